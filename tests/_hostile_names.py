"""A model whose every string contains markup, commands or control characters of some output format."""

from pathlib import Path

import onnx
from onnx import TensorProto, helper

NAMES = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "](javascript:alert(3))",
    "![x](https://picture.invalid/x.png)",
    "``` \n# heading",
    "`tick` ``two``",
    "a | b \\| c \\\\| d",
    "line\nbreak\r\n- item",
    "\x1b[31mred\x1b[0m\x07",
    "\u202egnp.exe\u2066",
    "<!-- onnx-autodoc: end -->",
    "--- \nlicense: mit",
    "{{ 7 * 7 }}{% raw %}",
    '=HYPERLINK("https://formula.invalid")',
    "https://link.invalid/ www.link.invalid @someone #1 $x$",
    '" onmouseover="alert(4)',
    "' style='x' &lt;b&gt; &#60;",
    "::error file=x::workflow",
    "%%{init: {}}%% click n0 callback",
    "*bold* _it_ ~~gone~~ <b>html</b>",
    "]]>\u2028\u2029\x00",
    "x" * 5000,
)


def hostile(folder: Path) -> Path:
    """Write a model with hostile inputs, outputs, nodes, operators, domains, dimensions, metadata and documentation."""
    names = [f"{name}{at}" for at, name in enumerate(NAMES)]
    nodes, last = [], names[0]
    for at, name in enumerate(names[1:]):
        nodes.append(helper.make_node("Relu", [last], [name + "o"], name=name))
        last = name + "o"
        if at % 5 == 0:
            nodes.append(helper.make_node(name, [last], [name + "c"], name=name + "n", domain=name + "d"))
    dims = [names[3], names[6]]
    weight = helper.make_tensor(names[7] + "w", TensorProto.FLOAT, [4, 4], [0.5] * 16)
    nodes.append(helper.make_node("MatMul", [last, weight.name], ["y`|<i>"], name="</details>"))
    graph = helper.make_graph(
        nodes,
        "</title><img src=x onerror=alert(5)>",
        [helper.make_tensor_value_info(names[0], TensorProto.FLOAT, [*dims, 4])],
        [helper.make_tensor_value_info("y`|<i>", TensorProto.FLOAT, [*dims, 4])],
        [weight],
    )
    domains = [helper.make_opsetid(name + "d", 1) for name in names[1::5]]
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), *domains], producer_name=names[8])
    model.doc_string = "\n\n".join(NAMES)
    helper.set_model_props(model, {**dict(zip(names, NAMES)), "names": repr(dict(enumerate(NAMES)))})
    path = folder / "a `b` <i> | c.onnx"
    path.write_bytes(model.SerializeToString())
    assert onnx.load(path).graph.node
    return path
