"""A model with a name of our own on every node, so that what onnxruntime reports can be told apart exactly.

Names in files may be missing, or stand twice. A function gets a copy of its own at every call: onnxruntime opens calls
and names what is inside by the function alone. Runs in the child process; weights beside the file are not loaded.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from onnx_autodoc.runtime._messages import Way

if TYPE_CHECKING:
    import onnx

_MOST: Final = 500_000  # nodes, functions opened at every call
_DEEPEST: Final = 200
_FAR: Final = 4  # nodes in a row that are fused
_NAME: Final = re.compile(r"oad(\d+)e")
_OURS: Final = re.compile(r"oad(\d+)([ef])")  # a node, a function's copy
_WHOLE: Final = re.compile(r"(?:_inlfunc_.*_)?oad(\d+)e", re.DOTALL)


class TooMany(Exception):
    """There are more nodes than can be told apart."""


class Renamed:
    """The model's bytes, and by the number of each node the way to it and its operator."""

    def __init__(self, path: str) -> None:
        import onnx

        proto = onnx.load(path, format="protobuf", load_external_data=False)  # whatever it is called
        self._functions = {_key(each.domain, each.name, each): each for each in proto.functions}
        self._copies: list[onnx.FunctionProto] = []
        self.ways: list[Way] = []
        self._labels: list[str] = []
        self.ops: list[str] = []
        self._makers: dict[str, int] = {}
        self._name(proto.graph.node, (), self._makers)
        self._read = {
            int(node.name[3:-1]): tuple(node.input) for node in proto.graph.node
        }  # by nodes of the main graph
        self._readers = Counter(name for node in proto.graph.node for name in node.input)
        del proto.functions[:]
        proto.functions.extend(self._copies)
        self.data: bytes = proto.SerializeToString()

    def _name(self, nodes: Iterable["onnx.NodeProto"], around: Way, makers: dict[str, int] | None = None) -> None:
        if len(around) > 2 * _DEEPEST:
            raise TooMany(f"functions and subgraphs nest deeper than {_DEEPEST} levels")
        for at, node in enumerate(nodes):
            number, way = len(self.ways), (*around, at)
            if number >= _MOST:
                raise TooMany(f"with functions opened at every call there are over {_MOST:,} nodes")
            self.ways.append(way)
            self.ops.append(node.op_type)
            self._labels.append(node.name or f"{node.op_type}_{at}")
            node.name = f"oad{number}e"
            if makers is not None:
                makers.update(dict.fromkeys(node.output, number))
            self._inside(node, way, number)

    def _inside(self, node: "onnx.NodeProto", way: Way, number: int) -> None:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                self._name(attribute.g.node, (*way, attribute.name))
            for at, graph in enumerate(attribute.graphs):
                self._name(graph.node, (*way, f"{attribute.name}[{at}]"))
        function = self._functions.get(_key(node.domain, node.op_type, node))
        if function is not None:
            copy = type(function)()
            copy.CopyFrom(function)
            copy.name = node.op_type = f"oad{number}f"
            self._name(copy.node, (*way, function.name))
            self._copies.append(copy)

    def number(self, name: str) -> int | None:
        """Of a node that runs as it stands in the file."""
        found = _WHOLE.fullmatch(name)
        return self._known(found[1]) if found else None

    def _known(self, digits: str) -> int | None:
        """None where the number is not one of ours: a file may have values of such names."""
        return int(digits) if len(digits) < 10 and int(digits) < len(self.ways) else None

    def bearer(self, name: str, op: str) -> int | None:
        """Of the node whose work a kernel of this name and operator does, as far as can be told.

        A kernel bears the name of one of the nodes that it took in, or of the value that comes out of it: its own
        node is the one of its operator, if there is only one, among those that were handed on to it alone.
        """
        found = set(_NAME.findall(name))
        made = self._makers.get(name.removesuffix("_nchwc")) if name.endswith("_nchwc") else None
        number = self._known(found.pop()) if len(found) == 1 else made
        return None if number is None else self._behind(number, op)

    def _behind(self, number: int, op: str) -> int:
        level = {number}
        for _ in range(_FAR):
            kin = [each for each in level if op.endswith(self.ops[each])]  # FusedConv and QLinearConv are of Conv
            if kin:
                return kin[0] if len(kin) == 1 else number
            names = (name for each in level for name in self._read.get(each, ()) if self._readers[name] == 1)
            level = {self._makers[name] for name in names if name in self._makers}
        return number

    def spoken(self, text: str) -> str:
        """A message of onnxruntime in the file's own names."""
        return _OURS.sub(self._own, text)

    def _own(self, found: re.Match[str]) -> str:
        number = self._known(found[1])
        if number is None:
            return found[0]
        return self._labels[number] if found[2] == "e" else self.ops[number]


def _key(domain: str, name: str, holder: Any) -> tuple[str, str, str]:
    return "" if domain == "ai.onnx" else domain, name, getattr(holder, "overload", "")
