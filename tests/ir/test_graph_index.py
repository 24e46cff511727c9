"""Def-use relations, order and cycles of a graph, and the scopes of a model."""

from onnx_autodoc.ir import Function, Graph, Model, Node, Tensor, Value, find_cyclic, graph_scopes, topological_order


def values(*names: str) -> tuple[Value, ...]:
    return tuple(map(Value, names))


BRANCH = Graph("then", (Node("Add", ("inner", "a"), ("t",)),), outputs=values("t"), captures=frozenset(("a",)))
GRAPH = Graph(
    "g",
    (
        Node("Constant", (), ("c",), attributes={"value_floats": (1.0, 2.0)}),
        Node("Mul", ("x", "w"), ("a",)),
        Node("Add", ("a", "a"), ("b", "")),
        Node("If", ("flag",), ("y",), name="choice", attributes={"then_branch": BRANCH}),
    ),
    inputs=values("x", "flag"),
    outputs=values("y"),
    initializers=(Tensor("w", "float32", (2,)),),
)


def test_producers_are_the_positions_of_nodes() -> None:
    assert GRAPH.index.producers == {"c": 0, "a": 1, "b": 2, "y": 3}
    producer = GRAPH.index.producer("a")
    assert producer is not None and producer.op == "Mul"
    assert GRAPH.index.producer("x") is None


def test_uses_have_the_node_and_the_input_slot() -> None:
    assert GRAPH.index.uses["a"] == [(2, 0), (2, 1)]
    assert "b" not in GRAPH.index.uses


def test_captures_count_as_inputs_of_the_node_that_holds_the_subgraph() -> None:
    assert GRAPH.nodes[3].all_inputs == ("flag", "a")
    assert GRAPH.index.captured == {"a"}


def test_constants_are_initializers_and_constant_nodes() -> None:
    assert {name: tensor.dims for name, tensor in GRAPH.index.constants.items()} == {"w": (2,), "c": (2,)}


def test_undefined_values_are_those_that_nothing_defines() -> None:
    assert GRAPH.index.undefined == []
    assert Graph("g", (Node("Relu", ("z",), ("y",)),), outputs=values("y", "q")).index.undefined == ["q", "z"]


def test_trace_back_stops_at_the_first_other_node() -> None:
    nodes = (Node("Relu", ("x",), ("a",)), Node("Cast", ("a",), ("b",)), Node("Identity", ("b",), ("c",)))
    index = Graph("g", nodes, values("x")).index
    assert index.trace_back("c", lambda node: node.op != "Relu") == "a"
    assert index.trace_back("c", lambda node: node.op != "Relu", max_nodes=1) == "b"


def test_index_is_built_once() -> None:
    assert GRAPH.index is GRAPH.index


UNSORTED = (Node("Neg", ("b",), ("c",)), Node("Relu", ("x",), ("a",)), Node("Abs", ("a",), ("b",)))
CYCLE = (Node("Add", ("x", "b"), ("a",)), Node("Relu", ("a",), ("b",)), Node("Neg", ("x",), ("c",)))


def test_sorted_graph_keeps_the_order_of_the_file() -> None:
    assert GRAPH.index.is_sorted
    assert list(GRAPH.index.order) == [0, 1, 2, 3]
    assert list(GRAPH.index.cyclic) == []


def test_unsorted_graph_is_ordered_by_dependencies() -> None:
    index = Graph("g", UNSORTED, values("x")).index
    assert not index.is_sorted
    assert list(index.order) == list(topological_order(UNSORTED)) == [1, 2, 0]
    assert list(index.cyclic) == []


def test_nodes_of_a_cycle_come_last() -> None:
    index = Graph("g", CYCLE, values("x")).index
    assert list(index.order) == [2, 0, 1]
    assert list(index.cyclic) == [0, 1]


def test_value_that_is_also_an_input_makes_no_cycle() -> None:
    assert list(Graph("g", CYCLE, values("x", "b")).index.cyclic) == []


def test_find_cyclic_has_paths_between_two_cycles() -> None:
    reads = {"a": {"a"}, "b": {"a"}, "c": {"b", "c"}, "d": {"c"}, "e": set[str]()}
    assert find_cyclic(reads) == ["a", "b", "c"]


FUNCTION = Function("f", "local", inputs=("p",), outputs=("q",), nodes=(Node("Relu", ("p",), ("q",)),))
MODEL = Model(GRAPH, functions=(FUNCTION,))


def test_model_has_its_graphs_in_file_order() -> None:
    assert [graph.name for graph in MODEL.all_graphs] == ["g", "then", "f"]
    assert MODEL.node_count == 6
    assert MODEL.functions_by_key == {("local", "f", ""): FUNCTION}
    assert Node("f", domain="local").function_key == FUNCTION.key


def test_scopes_have_paths_and_parents() -> None:
    main, branch, body = graph_scopes(MODEL)
    assert (main.path, branch.path, body.path) == ("", "choice/then_branch", "f")
    assert branch.parent is main and branch.position == 3
    assert branch.node_path(0) == "choice/then_branch/Add_0"
    assert main.qualify("x") == "x" and body.qualify("p") == "f/p"
    assert body.in_function and not branch.in_function
