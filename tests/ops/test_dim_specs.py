"""Shape rules as text."""

import pytest

from onnx_autodoc.ir import Node
from onnx_autodoc.ops import Call, Contradiction, Unknown, ValueInfo
from onnx_autodoc.ops.dim_specs import rule
from onnx_autodoc.ops.values import Shape

LENGTH = Unknown("depends on the data")


def infer_shapes_of(spec: str, *shapes: Shape, **attributes: int) -> list[tuple[str | None, Shape | None]]:
    inputs = [ValueInfo("float16", shape) for shape in shapes]
    return [(known.dtype, known.shape) for known in rule(spec)(Call(Node("Op", attributes=attributes), inputs, 1))]


@pytest.mark.parametrize(
    ("spec", "shapes", "expected"),
    [
        ("0: B S, 1: _ D -> 0: B S D, int32: B", [(2, 3), (9, 4)], [("float16", (2, 3, 4)), ("int32", (2,))]),
        ("0: ... n -> 0: ... n//2+1 2", [(5, 6, 8)], [("float16", (5, 6, 5, 2))]),
        ("0: ... n _ -> 0: ... n-1*2", [(5, 2)], [("float16", (8,))]),
        ("0: B ... -> 0: B @most", [(2, 7, 7)], [("float16", (2, 100))]),
        ("0: _ D, 1: ... -> 0: ... D", [(9, 4), (2, LENGTH)], [("float16", (2, LENGTH, 4))]),
        ("0: N -> int64: N*2", [(LENGTH,)], None),
    ],
)
def test_spec_gives_the_dims_of_the_outputs(spec: str, shapes: list[Shape], expected: object) -> None:
    inferred = infer_shapes_of(spec, *shapes, most=100)
    if expected is None:
        dims = inferred[0][1]
        assert dims is not None and isinstance(dims[0], Unknown) and dims[0].why == LENGTH.why
    else:
        assert inferred == expected


@pytest.mark.parametrize(("spec", "shape"), [("0: B S -> 0: S B", (2, 3, 4)), ("0: ... n _ -> 0: n", (2,))])
def test_input_of_another_rank_is_a_contradiction(spec: str, shape: Shape) -> None:
    with pytest.raises(Contradiction, match="for input 0, got rank"):
        infer_shapes_of(spec, shape)


def test_missing_attribute_is_a_contradiction() -> None:
    with pytest.raises(Contradiction, match="requires attribute most"):
        infer_shapes_of("0: B -> 0: B @most", (2,))
