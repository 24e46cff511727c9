"""Which outputs of a node are its inputs in another shape, and take no memory of their own."""

from onnx_autodoc.ir import Deep, Function, Model, Node, deeply, execution_order
from onnx_autodoc.ops import kinds

Views = tuple[int | None, ...]  # for each output: which input it shares memory with
_FIRST: Views = (0,)


class Sharing:
    """A function that only reshapes is a view, as the operators in it are: it is what it would be if written out."""

    def __init__(self, model: Model) -> None:
        self._functions = {function.key: function for function in model.functions}
        self._known: dict[tuple[str, str, str], Views] = {}

    def called(self, node: Node) -> Function | None:
        return self._functions.get((node.domain, node.op, node.overload)) if self._functions else None

    def views(self, node: Node) -> Views:
        function = self.called(node)
        if function is not None:
            return deeply(self._through(function))
        return _FIRST if node.op in kinds.SHARING and not node.domain else ()

    def _through(self, function: Function) -> Deep[Views]:
        if function.key not in self._known:
            self._known[function.key] = ()  # one that calls itself has no end to look at
            roots = {name: at for at, name in enumerate(function.inputs)}
            for at in execution_order(function.nodes):
                node = function.nodes[at]
                inner = self.called(node)
                views = self.views(node) if inner is None else (yield self._through(inner))
                for name, which in zip(node.outputs, views):
                    if which is not None and which < len(node.inputs) and node.inputs[which] in roots:
                        roots.setdefault(name, roots[node.inputs[which]])
            self._known[function.key] = tuple(roots.get(name) for name in function.outputs)
        return self._known[function.key]
