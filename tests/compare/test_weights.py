"""Comparison of weights by hash."""

import numpy as np
import onnx
import pytest
from msgspec.structs import replace
from onnx import numpy_helper

from onnx_autodoc.card import Card
from onnx_autodoc.compare import WeightsChange, compare
from onnx_autodoc.errors import BadInput
from tests.compare._cards import compare_cards, of_proto
from tests.compare._nets import Block, Layer, convnet, encoder


def make_net(seed: int = 0) -> onnx.ModelProto:
    return convnet([Block()], seed=seed)


def make_card(model: onnx.ModelProto) -> Card:
    return of_proto(model, weights=True)


def compare_weights(was: onnx.ModelProto, now: onnx.ModelProto) -> WeightsChange:
    change = compare_cards(make_card(was), make_card(now)).weights
    assert change is not None
    return change


def test_equal_weights_are_reported() -> None:
    diff = compare_cards(make_card(make_net()), make_card(make_net()))
    assert diff.weights is not None
    assert diff.weights.text == "all 8 tensors equal"
    assert diff.empty
    assert diff.relation.text == "No difference in the cards or the weights."


def test_same_graph_with_other_weights_is_recognized() -> None:
    diff = compare_cards(make_card(make_net()), make_card(make_net(1)))
    assert diff.relation.text == "The same graph with different weights."
    assert diff.weights is not None
    assert (diff.weights.changed, diff.weights.equal) == (8, 0)
    assert not diff.empty


def test_changed_tensor_is_named() -> None:
    changed = make_net()
    data = numpy_helper.to_array(changed.graph.initializer[2]).copy()
    data.flat[0] += 1
    changed.graph.initializer[2].CopyFrom(numpy_helper.from_array(data, changed.graph.initializer[2].name))
    change = compare_weights(make_net(), changed)
    assert change.text == "7 of 8 tensors equal; 1 with different values"
    assert change.names == {"changed": (changed.graph.initializer[2].name,)}


def rename_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    for tensor in model.graph.initializer:
        for node in model.graph.node:
            for index, name in enumerate(node.input):
                if name == tensor.name:
                    node.input[index] = f"{name}.new"
        tensor.name += ".new"
    return model


def test_renamed_tensors_are_recognized() -> None:
    change = compare_weights(make_net(), rename_weights(make_net()))
    assert change.text == "equal values in all 8 tensors, under different names"
    assert (change.renamed, change.gone, change.added) == (8, 0, 0)
    assert all(pair.now == f"{pair.was}.new" for pair in change.pairs)


def test_retyped_tensor_is_not_changed() -> None:
    changed = make_net()
    for tensor in changed.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))
    change = compare_weights(make_net(), changed)
    assert (change.retyped, change.changed) == (8, 0)


def test_quantized_tensor_is_matched_by_name_prefix() -> None:
    changed = make_net()
    for tensor in changed.graph.initializer:
        name, data = tensor.name, numpy_helper.to_array(tensor).astype(np.int8)
        tensor.CopyFrom(numpy_helper.from_array(data, f"{name}_quantized"))
        for node in changed.graph.node:
            node.input[:] = [
                f"{input_name}_quantized" if input_name == name else input_name for input_name in node.input
            ]
    change = compare_weights(make_net(), changed)
    assert (change.retyped, change.gone, change.added) == (8, 0, 0)


def test_storage_form_does_not_change_hashes() -> None:
    changed = make_net()
    for tensor in changed.graph.initializer:
        data = numpy_helper.to_array(tensor)
        plain = onnx.helper.make_tensor(tensor.name, onnx.TensorProto.FLOAT, data.shape, data.flatten().tolist())
        assert not plain.raw_data
        tensor.CopyFrom(plain)
    assert compare_weights(make_net(), changed).text == "all 8 tensors equal"


def test_added_and_removed_tensors_are_counted() -> None:
    change = compare_weights(make_net(), convnet([Block(), Block()]))
    assert change.added == 4
    assert compare_weights(convnet([Block(), Block()]), make_net()).gone == 4


def test_card_without_hashes_is_rejected_with_weights() -> None:
    with pytest.raises(BadInput, match="no weight hashes; regenerate it with"):
        compare([make_card(make_net()), of_proto(make_net())], ["a", "b"], weights=True)


def test_weights_are_not_compared_without_hashes() -> None:
    diff = compare_cards(of_proto(make_net()), of_proto(make_net(1)))
    assert diff.weights is None
    assert "--weights" in diff.relation.against[0]


def test_constants_are_counted_apart_from_weights() -> None:
    was, now = encoder([Layer()]), encoder([Layer()])
    shape = next(tensor for tensor in now.graph.initializer if tensor.data_type == onnx.TensorProto.INT64)
    shape.CopyFrom(numpy_helper.from_array(np.array([1, *numpy_helper.to_array(shape)[1:]], np.int64), shape.name))
    change = compare_weights(was, now)
    assert change.changed == 1
    learned = sum(bool(tensor.dims) and tensor.data_type == onnx.TensorProto.FLOAT for tensor in was.graph.initializer)
    assert change.text.startswith(f"all {learned} weight tensors equal. Small constants")
    assert change.text.endswith("1 with different values")


def test_unread_weights_are_not_equal() -> None:
    model = make_card(make_net())
    assert model.weights is not None
    unread = replace(model.weights.tensors[0], sha256=None, unread="the file beside it is not there")
    partly = replace(model, weights=replace(model.weights, tensors=(unread, *model.weights.tensors[1:]), unread=1))
    relation = compare_cards(partly, partly).relation
    assert relation.text == "No difference between the cards."
    assert relation.against == ("not all weights could be read: 7 of 8 tensors equal; 1 not read, so not compared",)
