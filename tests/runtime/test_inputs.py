"""Generated inputs, external weights, execution providers."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from onnx_autodoc.architecture import describe
from onnx_autodoc.card import Feed
from onnx_autodoc.errors import BadInput
from onnx_autodoc.limits import Limits, within
from onnx_autodoc.runtime import check_external_weights, make_feeds
from onnx_autodoc.runtime.protocol import FILLABLE_TYPES
from onnx_autodoc.runtime.session import RequestError, find_provider, make_arrays
from tests._text import model
from tests.runtime._models import measure_file, save_model


def make_array(feed: Feed) -> np.ndarray:
    array = make_arrays([feed], lambda bits, number: (bits, number))[feed.name]
    return array[0] if isinstance(array, tuple) else array  # type: ignore[return-value]


@pytest.mark.parametrize("dtype", sorted(FILLABLE_TYPES))
@pytest.mark.parametrize("dims", [(), (2, 3), (0, 4)])
def test_every_fillable_type_yields_an_array(dtype: str, dims: tuple[int, ...]) -> None:
    assert make_array(Feed("x", dtype, dims, value=1)).shape == dims


def test_fill_modes_follow_the_sample() -> None:
    assert make_array(Feed("x", "int64", (2, 3), "range", low=5)).tolist() == [[5, 6, 7], [5, 6, 7]]
    assert make_array(Feed("x", "int64", (), "range", low=5)).tolist() == 5
    assert make_array(Feed("x", "string", (2,), "text", value="a")).tolist() == ["a", "a"]
    assert make_array(Feed("x", "bool", (2,), value=True)).tolist() == [True, True]
    rows = make_array(Feed("x", "int32", (1000,), "integers", low=3, high=6))
    assert (rows.dtype, rows.min(), rows.max()) == (np.int32, 3, 5)
    image = make_array(Feed("x", "float16", (1000,), "uniform", low=0, high=1))
    assert image.dtype == np.float16 and 0 <= image.min() < 0.1 and 0.9 < image.max() <= 1
    assert abs(float(make_array(Feed("x", "float32", (1000,), "normal", high=0.1)).std()) - 0.1) < 0.02


def test_inputs_are_deterministic() -> None:
    feed = Feed("x", "float32", (8,), "normal", high=1)
    assert make_array(feed).tolist() == make_array(feed).tolist()


def test_bfloat16_is_the_upper_half_of_float32() -> None:
    assert make_array(Feed("x", "bfloat16", (1,), value=1)).tolist() == [0x3F80]


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ("seq(float[2])", "it is a sequence, not a tensor"),
        ("optional(float[2])", "it is an optional, not a tensor"),
        ("float[]", "its rank is unknown"),
        ("float[2,?]", r"its size is unknown; set it with --dim x\.1=N$"),
    ],
)
def test_unfillable_input_is_rejected_with_reason(declared: str, reason: str, tmp_path: Path) -> None:
    path = save_model(tmp_path, f"g ({declared} x, float[2] z) => (float[2] y) {{ y = Relu(z) }}")
    facts = measure_file(path)
    with pytest.raises(BadInput, match=reason):
        make_feeds(facts, describe(facts).samples)


def test_provider_is_found_by_short_name() -> None:
    have = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    assert find_provider("cuda", have) == "CUDAExecutionProvider"
    assert find_provider("CPUExecutionProvider", have) == "CPUExecutionProvider"
    with pytest.raises(RequestError, match=r"similar: CUDAExecutionProvider"):
        find_provider("cdua", have)


# -- external weights


def save_external(folder: Path, location: str, stored_bytes: int | None) -> Path:
    """Save a model with eight bytes of external weights, of which `stored_bytes` exist."""
    path = save_model(folder, "g (float[2] x) => (float[2] y) { y = Add(x, w) }")
    proto = onnx.load(path)
    weight = proto.graph.initializer.add(name="w", data_type=1, dims=[2], data_location=1)
    weight.external_data.add(key="location", value=location)
    path.write_bytes(proto.SerializeToString())
    if stored_bytes is not None:
        (folder / location).write_bytes(b"\0" * stored_bytes)
    return path


@pytest.mark.parametrize("location", ["/etc/passwd", "../w.bin", "a/../../w.bin"])
def test_weights_outside_the_folder_are_rejected(location: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"the weights file \S+ is outside the model's folder$"):
        check_external_weights(measure_file(save_external(tmp_path, location, None)).model)


def test_link_out_of_the_folder_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret").write_bytes(b"\0" * 8)
    path = save_external(tmp_path / "in", "w.bin", None)
    (tmp_path / "in" / "w.bin").symlink_to(tmp_path / "secret")
    with pytest.raises(BadInput, match=r"w\.bin is behind a symbolic link; --follow-links allows it$"):
        check_external_weights(measure_file(path).model)


def test_download_cache_of_links_is_accepted_with_follow_links(tmp_path: Path) -> None:
    """Model and weights are links into one folder."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "seen").mkdir()
    path = save_external(tmp_path / "blobs", "w.bin", 8)
    for name in ("model.onnx", "w.bin"):
        (tmp_path / "seen" / name).symlink_to(path.parent / name)
    with within(Limits(follow_links=True)):
        check_external_weights(measure_file(tmp_path / "seen" / "model.onnx").model)


def test_missing_and_truncated_weights_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"the weights file w.bin was not found; put it in the model's folder$"):
        check_external_weights(measure_file(save_external(tmp_path, "w.bin", None)).model)
    with pytest.raises(BadInput, match=r"the weights file w.bin is incomplete: 4 of 8 bytes"):
        check_external_weights(measure_file(save_external(tmp_path, "w.bin", 4)).model)


def test_model_without_external_weights_is_accepted() -> None:
    check_external_weights(model("g (float[2] x) => (float[2] y) { y = Relu(x) }"))
