"""Comparison of weights by hash."""

import numpy as np
import onnx
import pytest
from msgspec.structs import replace
from onnx import numpy_helper

from onnx_autodoc.card import Card
from onnx_autodoc.compare import WeightsChange, compare
from onnx_autodoc.errors import BadInput
from tests.compare._cards import diff_of, of_proto
from tests.compare._nets import Block, Layer, convnet, encoder


def net(seed: int = 0) -> onnx.ModelProto:
    return convnet([Block()], seed=seed)


def card(model: onnx.ModelProto) -> Card:
    return of_proto(model, weights=True)


def weights(was: onnx.ModelProto, now: onnx.ModelProto) -> WeightsChange:
    found = diff_of(card(was), card(now)).weights
    assert found is not None
    return found


def test_equal_weights_are_reported() -> None:
    diff = diff_of(card(net()), card(net()))
    assert diff.weights is not None
    assert diff.weights.text == "all 8 tensors equal"
    assert diff.empty
    assert diff.relation.text == "No difference, neither in the cards nor in the weights."


def test_same_graph_with_other_weights_is_recognized() -> None:
    diff = diff_of(card(net()), card(net(1)))
    assert diff.relation.text == "The same graph with other weights."
    assert diff.weights is not None
    assert (diff.weights.changed, diff.weights.equal) == (8, 0)
    assert not diff.empty


def test_changed_tensor_is_named() -> None:
    other = net()
    data = numpy_helper.to_array(other.graph.initializer[2]).copy()
    data.flat[0] += 1
    other.graph.initializer[2].CopyFrom(numpy_helper.from_array(data, other.graph.initializer[2].name))
    found = weights(net(), other)
    assert found.text == "7 of 8 tensors equal; 1 with other numbers"
    assert found.names == {"changed": (other.graph.initializer[2].name,)}


def renamed(model: onnx.ModelProto) -> onnx.ModelProto:
    for tensor in model.graph.initializer:
        for node in model.graph.node:
            for at, name in enumerate(node.input):
                if name == tensor.name:
                    node.input[at] = f"{name}.new"
        tensor.name += ".new"
    return model


def test_renamed_tensors_are_recognized() -> None:
    found = weights(net(), renamed(net()))
    assert found.text == "the same numbers in all 8 tensors, under other names"
    assert (found.renamed, found.gone, found.added) == (8, 0, 0)
    assert all(pair.now == f"{pair.was}.new" for pair in found.pairs)


def test_retyped_tensor_is_not_changed() -> None:
    other = net()
    for tensor in other.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))
    found = weights(net(), other)
    assert (found.retyped, found.changed) == (8, 0)


def test_quantized_tensor_is_matched_by_name_prefix() -> None:
    other = net()
    for tensor in other.graph.initializer:
        name, data = tensor.name, numpy_helper.to_array(tensor).astype(np.int8)
        tensor.CopyFrom(numpy_helper.from_array(data, f"{name}_quantized"))
        for node in other.graph.node:
            node.input[:] = [f"{each}_quantized" if each == name else each for each in node.input]
    found = weights(net(), other)
    assert (found.retyped, found.gone, found.added) == (8, 0, 0)


def test_storage_form_does_not_change_hashes() -> None:
    other = net()
    for tensor in other.graph.initializer:
        data = numpy_helper.to_array(tensor)
        plain = onnx.helper.make_tensor(tensor.name, onnx.TensorProto.FLOAT, data.shape, data.flatten().tolist())
        assert not plain.raw_data
        tensor.CopyFrom(plain)
    assert weights(net(), other).text == "all 8 tensors equal"


def test_added_and_removed_tensors_are_counted() -> None:
    found = weights(net(), convnet([Block(), Block()]))
    assert found.added == 4
    assert weights(convnet([Block(), Block()]), net()).gone == 4


def test_card_without_hashes_is_rejected_with_weights() -> None:
    with pytest.raises(BadInput, match="no hashes of its weights; write it anew with"):
        compare([card(net()), of_proto(net())], ["a", "b"], weights=True)


def test_weights_are_not_compared_without_hashes() -> None:
    diff = diff_of(of_proto(net()), of_proto(net(1)))
    assert diff.weights is None
    assert "--weights" in diff.relation.against[0]


def test_constants_are_counted_apart_from_weights() -> None:
    was, now = encoder([Layer()]), encoder([Layer()])
    shape = next(tensor for tensor in now.graph.initializer if tensor.data_type == onnx.TensorProto.INT64)
    shape.CopyFrom(numpy_helper.from_array(np.array([1, *numpy_helper.to_array(shape)[1:]], np.int64), shape.name))
    found = weights(was, now)
    assert found.changed == 1
    learned = sum(bool(tensor.dims) and tensor.data_type == onnx.TensorProto.FLOAT for tensor in was.graph.initializer)
    assert found.text.startswith(f"all {learned} weight tensors equal. Small constants")
    assert found.text.endswith("1 with other numbers")


def test_unread_weights_are_not_equal() -> None:
    model = card(net())
    assert model.weights is not None
    unread = replace(model.weights.tensors[0], sha256=None, unread="the file beside it is not there")
    partly = replace(model, weights=replace(model.weights, tensors=(unread, *model.weights.tensors[1:]), unread=1))
    found = diff_of(partly, partly).relation
    assert found.text == "No difference in what the cards hold."
    assert found.against == ("not all weights could be read: 7 of 8 tensors equal; 1 not read, so not compared",)
