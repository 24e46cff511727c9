"""The tasks of models: from the graph, from metadata, or none."""

import pytest

from onnx_autodoc.analysis import measure
from onnx_autodoc.architecture.claims import read_claims
from onnx_autodoc.architecture.tasks import find_task, find_task_contradictions
from onnx_autodoc.card import Dataset, Task
from onnx_autodoc.ir import Model
from onnx_autodoc.patterns import Net, find_blocks, find_heads
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import Request, bind_and_infer
from tests._corpus import GRAPH_NAMES, MODELS, graph
from tests.patterns._models import CAUSAL, MASKED, build_encoder, build_image_model, build_model, find_model_roles

POOL = "p = GlobalAveragePool(f) z = Flatten(p)"
UP = "sc = Constant<value = float[4] {1.0, 1.0, 4.0, 4.0}>() u = Resize(f, , sc)"
CLS = "nil0 = Constant<value = int64 {0}>() c2 = Gather<axis = 1>(h, nil0)"


def find_model_task(net_and_model: tuple[Net, Model], family: str = "unknown", claims: Dataset | None = None) -> Task:
    net, model = net_and_model
    return find_task(net, find_heads(net), find_model_roles(net, model), family, has_cache=False, claims=claims)


def test_span_outputs_are_question_answering() -> None:
    end = "l = MatMul(h, w) t = Add(l, b) s2, e2 = Split<axis = -1, num_outputs = 2>(t)"
    end += " last = Constant<value = int64[1] {-1}>() start = Squeeze(s2, last) stop = Squeeze(e2, last)"
    task = find_model_task(
        build_encoder(end, "float[1,24] start, float[1,24] stop", ", int64[1,24] mask", MASKED, w=(16, 2), b=(2,))
    )
    assert (task.name, task.classes) == ("question answering", None)
    assert task.confidence >= 0.9
    assert task.evidence == ("outputs start and stop have one value per token each: a span head",)


@pytest.mark.parametrize(
    ("end", "name", "classes"),
    [
        ("y = Identity(h)", "feature extraction", None),
        (f"{CLS} y = LpNormalization(c2)", "sentence embedding", None),
        (f"{CLS} l = MatMul(c2, w) y = Add(l, b)", "text classification", 7),
        (f"{CLS} l = MatMul(c2, w1) t = Add(l, b1) y = Sigmoid(t)", "text classification", 2),
        (f"{CLS} l = MatMul(c2, w1) y = Add(l, b1)", "text scoring", None),
        ("l = MatMul(h, w) y = Add(l, b)", "token classification", 7),
        ("y = MatMul(h, wv2)", "fill mask", None),
    ],
)
def test_text_tasks(end: str, name: str, classes: int | None) -> None:
    task = find_model_task(build_encoder(end, "float y", w=(16, 7), b=(7,), w1=(16, 1), b1=(1,), wv2=(16, 100)))
    assert (task.name, task.classes) == (name, classes)
    assert all(task.evidence)


def test_causal_attention_is_text_generation() -> None:
    causal = find_model_task(
        build_encoder("y = MatMul(h, w)", "float y", scores=CAUSAL, w=(16, 100)), "transformer-decoder"
    )
    assert (causal.name, causal.classes) == ("text generation", None)
    assert "causal attention" in causal.evidence


@pytest.mark.parametrize(
    ("end", "name", "classes"),
    [
        (f"{POOL} y = Gemm(z, w, b)", "image classification", 10),
        (f"{POOL} t = Gemm(z, w1, b1) y = Sigmoid(t)", "image classification", 2),
        (f"{POOL} y = Gemm(z, w1, b1)", None, None),  # an age, a quality score, a steering angle
        (f"{POOL} y = Identity(z)", "image embedding", None),
        (f"{UP} t = Conv(u, s5, c5) y = Softmax<axis = 1>(t)", "semantic segmentation", 5),
        (f"{UP} t = Conv(u, s3, c3) y = Tanh(t)", "image-to-image", None),
        (f"{UP} t = Conv(u, s1, c1) y = Sigmoid(t)", "semantic segmentation", None),
        (f"{UP} y = Conv(u, s1, c1)", None, None),  # depth, density or a heat map
    ],
)
def test_image_tasks(end: str, name: str | None, classes: int | None) -> None:
    heads = {"w": (8, 10), "b": (10,), "w1": (8, 1), "b1": (1,), "s5": (5, 8, 1, 1), "c5": (5,)}
    maps = {"s3": (3, 8, 1, 1), "c3": (3,), "s1": (1, 8, 1, 1), "c1": (1,)}
    task = find_model_task(build_image_model(end, **heads, **maps), "cnn")
    assert (task.name, task.classes) == (name, classes)


def test_enlarged_image_is_super_resolution() -> None:
    text = "g (float[1,3,16,16] x) => (float y) { a = Conv<pads = [1, 1, 1, 1]>(x, w1) r = Relu(a)"
    text += " c = Conv<pads = [1, 1, 1, 1]>(r, w2) y = DepthToSpace<blocksize = 2>(c) }"
    assert find_model_task(build_model(text, w1=(8, 3, 3, 3), w2=(12, 8, 3, 3)), "cnn").name == "super resolution"


def test_image_from_a_latent_is_latent_decoding() -> None:
    text = "g (float[1,4,8,8] z) => (float y) { a = Conv<pads = [1, 1, 1, 1]>(z, w1) r = Relu(a)"
    text += " sc = Constant<value = float[4] {1.0, 1.0, 8.0, 8.0}>() u = Resize(r, , sc)"
    text += " y = Conv<pads = [1, 1, 1, 1]>(u, w2) }"
    assert find_model_task(build_model(text, w1=(8, 4, 3, 3), w2=(3, 8, 3, 3)), "cnn").name == "latent decoding"


@pytest.mark.parametrize(
    ("end", "name", "classes"),
    [
        ("y = Softmax(t)", "tabular classification", 3),
        ("y = Identity(t)", None, None),  # three classes, or three numbers
        ("y = Gemm(r, w1, b1)", "tabular regression", None),
        ("o = Gemm(r, w1, b1) y = Sigmoid(o)", "tabular classification", 2),
    ],
)
def test_tabular_tasks(end: str, name: str | None, classes: int | None) -> None:
    text = f"g (float[1,6] x) => (float y) {{ a = Gemm(x, w0, b0) r = Relu(a) t = Gemm(r, w, b) {end} }}"
    weights = {"w0": (6, 8), "b0": (8,), "w": (8, 3), "b": (3,), "w1": (8, 1), "b1": (1,)}
    task = find_model_task(build_model(text, **weights), "mlp")
    assert (task.name, task.classes) == (name, classes)


def test_sequence_of_features_is_not_a_table() -> None:
    text = "g (float[1,9,6] x) => (float y) { a = Gemm(q, w, b) y = Sigmoid(a)"
    text += " at = Constant<value = int64[1] {1}>() q = ReduceMean<keepdims = 0>(x, at) }"
    assert find_model_task(build_model(text, w=(6, 1), b=(1,)), "mlp").name is None


def test_audio_chunks_with_a_state_are_voice_activity_detection() -> None:
    text = "g (float[1,1,512] x, float[1,1,8] h0) => (float y, float hn) { a = Conv<strides = [64]>(x, w1) r = Relu(a)"
    text += " t = Transpose<perm = [2, 0, 1]>(r) o, hn = GRU<hidden_size = 8>(t, w, rr, , , h0)"
    text += " at = Constant<value = int64[1] {0}>() q = Squeeze(hn, at) l = Gemm(q, v, b) y = Sigmoid(l) }"
    task = find_model_task(build_model(text, w1=(4, 1, 64), w=(1, 24, 4), rr=(1, 24, 8), v=(8, 1), b=(1,)), "rnn")
    assert task.name == "voice activity detection"
    assert task.confidence <= 0.7


def test_classes_along_an_image_are_text_and_along_audio_are_speech() -> None:
    line = "r2 = Transpose<perm = [0, 3, 1, 2]>(f) s3 = Constant<value = int64[3] {1, 8, 64}>() q = Reshape(r2, s3)"
    text_line = find_model_task(build_image_model(f"{line} l = MatMul(q, w) y = Add(l, b)", w=(64, 40), b=(40,)), "cnn")
    assert (text_line.name, text_line.classes) == ("text recognition", None)
    text = "g (float[1,80,300] x) => (float y) { a = Conv<strides = [4]>(x, w1) r = Relu(a)"
    text += " t = Transpose<perm = [0, 2, 1]>(r) l = MatMul(t, w) o = Add(l, b) y = LogSoftmax(o) }"
    speech = find_model_task(build_model(text, w1=(16, 80, 3), w=(16, 32), b=(32,)), "cnn")
    assert (speech.name, speech.classes) == ("speech recognition", None)


def test_declared_task_is_reconciled_with_the_graph() -> None:
    net_and_model = build_image_model(f"{POOL} y = Gemm(z, w, b)", w=(8, 10), b=(10,))
    confirmed = find_model_task(net_and_model, "cnn", Dataset(task="classify", sources={"task": "metadata 'task'"}))
    other = find_model_task(net_and_model, "cnn", Dataset(task="detect", classes=3))
    unrecognized = find_model_task(net_and_model, "cnn", Dataset(task="frobnicate"))
    assert (confirmed.name, confirmed.confidence, confirmed.classes) == ("image classification", 0.97, 10)
    assert "metadata 'task' declares classify" in confirmed.evidence
    assert (other.name, other.confidence, other.classes, other.claimed) == ("object detection", 0.6, 3, True)
    assert "the graph suggests image classification" in other.evidence
    assert unrecognized == find_model_task(net_and_model, "cnn")


def test_unambiguous_graph_overrules_the_declared_task() -> None:
    net_and_model = build_image_model(f"{POOL} y = Gemm(z, w, b)", w=(8, 1000), b=(1000,))
    other = Dataset(task="detect", classes=3)
    assert (
        find_model_task(net_and_model, "cnn", other).name,
        find_model_task(net_and_model, "cnn", other).classes,
    ) == (
        "image classification",
        1000,
    )
    assert list(find_task_contradictions(find_model_task(net_and_model, "cnn", other), other)) == [
        "metadata declares detect, but the graph performs image classification"
    ]
    few, near = Dataset(classes=3), Dataset(classes=1001)
    assert list(find_task_contradictions(find_model_task(net_and_model, "cnn", few), few)) == [
        "metadata declares 3 classes, but the graph has 1,000"
    ]
    assert list(find_task_contradictions(find_model_task(net_and_model, "cnn", near), near)) == []


def test_task_declared_by_metadata_alone_is_claimed() -> None:
    """The number of classes is the declared one as well."""
    net_and_model = build_model("g (float[1,6] x) => (float y) { y = Relu(x) }")
    task = find_model_task(net_and_model, claims=Dataset(task="detect", classes=80))
    assert (task.name, task.classes, task.claimed) == ("object detection", 80, True)


def test_task_of_an_unknown_graph_is_the_declared_one() -> None:
    net_and_model = build_model("g (float[1,6] x) => (float y) { y = Relu(x) }")
    assert find_model_task(net_and_model) == Task(None, 0.0, None, ())
    task = find_model_task(net_and_model, claims=Dataset(task="depth-estimation"))
    assert (task.name, task.confidence) == ("depth estimation", 0.7)


def test_single_layer_has_no_task() -> None:
    text = "g (float[1,3,16,16] x) => (float y) { y = ConvTranspose<strides = [2, 2]>(x, w) }"
    assert find_model_task(build_model(text, w=(3, 3, 2, 2)), "cnn").name is None


def test_frames_from_a_text_are_not_tags() -> None:
    """80 bands of 48 frames, from 24 tokens."""
    end = "sc = Constant<value = float[3] {1.0, 2.0, 1.0}>() u = Resize(h, , sc) l = MatMul(u, w) y = Add(l, b)"
    assert find_model_task(build_encoder(end, "float y", w=(16, 80), b=(80,))).name is None


def test_token_scores_of_separate_networks_are_not_a_span() -> None:
    """Duration and pitch of each token, by one network each."""
    end = "a1 = MatMul(h, w) r1 = Relu(a1) s1n = Add(r1, b) long = MatMul(s1n, v)"
    end += " a2 = MatMul(h, w2) r2 = Relu(a2) s2n = Add(r2, b) high = MatMul(s2n, v)"
    net_and_model = build_encoder(end, "float long, float high", w=(16, 8), w2=(16, 8), b=(24, 8), v=(8, 1))
    assert find_model_task(net_and_model).name != "question answering"


def test_class_count_is_independent_of_the_batch() -> None:
    text = "g (int64[N,24] ids) => (float y) { e = Gather(table, ids) at = Constant<value = int64[1] {1}>()"
    text += " m = ReduceMean<keepdims = 0>(e, at) l = Gemm(m, w, b) y = Softmax(l) }"
    for batch in (1, 4, 7):
        task = find_model_task(build_model(text, f"N={batch}", table=(900, 16), w=(16, 7), b=(7,)))
        assert (task.name, task.classes) == ("text classification", 7)


# by the task in the record of the corpus: the accepted names of tasks, None for no task
_ACCEPTED_TASKS: dict[str | None, set[str | None]] = {
    "sentence embedding": {"sentence embedding", "feature extraction"},
    "question answering": {"question answering"},
    "text generation": {"text generation"},
    "image classification": {"image classification"},
    "text angle classification": {"image classification"},
    "object detection": {"object detection"},
    "captcha detection": {"object detection"},
    "captcha OCR": {"text recognition"},
    "text recognition": {"text recognition"},
    "text detection": {"text detection"},
    "latent decoding": {"latent decoding"},
    "voice activity detection": {"voice activity detection"},
    "speech recognition": {"speech recognition", "feature extraction"},
    "file type detection": {"text classification", None},
    "credential detection": {"text classification", None},
    "music transcription": {None},
    "table structure": {None},
}
# reviewed by hand: models without a recorded task
_REVIEWED_TASKS: dict[str, set[str | None]] = {
    "bilstm-gru-tagger": {"token classification"},
    "control-flow-loop-if": {None},
    "local-functions-mlp": {None},
    "resnet50-unfused-bn-op13": {"image classification"},
    "vit-tiny-dynamo": {"image classification"},
}
_CLASSES = {
    "magika-standard-v3-3": 214,
    "mobilenetv2-qoperator-int8": 1000,
    "onnx-light-densenet121": 1000,
    "onnx-light-squeezenet": 1000,
    "ppocr-mobile-cls-v2": 2,
    "ddddocr-det": 1,
    "yolov8l-nc1": 1,
    "bilstm-gru-tagger": 10,
    "bert-base-qa-ts-op12": None,
    "bert-base-qa-dynamo": None,
    "ppocrv4-rec-ch": None,
    "smollm2-135m-kv-op17": None,
}


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_corpus_task_is_correct(name: str) -> None:
    model = read_model(graph(name))
    binding, shapes = bind_and_infer(model, Request())
    facts = measure(model, binding, shapes)
    net = find_blocks(model, shapes, [True] * sum(1 for _ in shapes.rows()))
    family, has_cache = MODELS[name]["family_accept"][0], facts.cache is not None
    task = find_task(net, find_heads(net), find_model_roles(net, model), family, has_cache, read_claims(model))
    assert task.name in (_REVIEWED_TASKS.get(name) or _ACCEPTED_TASKS[MODELS[name]["task"]])
    assert task.classes == _CLASSES.get(name, task.classes)
    assert (task.name is None) == (task.confidence == 0.0) == (not task.evidence)
