"""What a model is: its blocks, layers and family, its task, and a drawing of it, all read off its graph."""

from collections import Counter
from pathlib import Path
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.architecture._boxes import Box, Edge
from onnx_autodoc.architecture._diagram_groups import Sketch
from onnx_autodoc.architecture._node_costs import Ledger, by_block, most_rows
from onnx_autodoc.architecture._places import places
from onnx_autodoc.architecture._ports import Ports
from onnx_autodoc.architecture.attention import AttentionKind, attention
from onnx_autodoc.architecture.family import Family, family
from onnx_autodoc.architecture.metadata import Dataset, contradictions, dataset
from onnx_autodoc.architecture.samples import Sample, samples
from onnx_autodoc.architecture.sizes import Sizes, sizes
from onnx_autodoc.architecture.task import Task, disputed, task
from onnx_autodoc.architecture.tree import MOST_BOXES, sketched, tree
from onnx_autodoc.architecture.work import Part, work
from onnx_autodoc.ir import all_graphs, is_float
from onnx_autodoc.limits import OPTIONS
from onnx_autodoc.patterns import Net, blocks, words
from onnx_autodoc.patterns.ports import roles
from onnx_autodoc.shapes import inputs_of

__all__ = [
    "BLOCK_KINDS",
    "AttentionKind",
    "BlockCount",
    "Box",
    "Dataset",
    "Edge",
    "Part",
    "Sample",
    "Structure",
    "Task",
    "describe",
    "most_rows",
    "undescribed",
]

_NEARLY_ALL: Final = 0.9
_UNITS: Final = ("bottleneck", "residual-block", "dense-layer", "csp", "spp", "inception")
_MERGE: Final = "top-down-merge"
BLOCK_KINDS: Final = (*words.SHOWN, *dict.fromkeys(words.NAMED.values()), _MERGE, *_UNITS)  # that are counted


class BlockCount(Struct, frozen=True):
    """Blocks of one kind, and what they hold and cost together. A block within a block counts for both kinds."""

    kind: str
    count: int
    params: int
    macs: int | None
    dtypes: dict[str, int]  # the parameters by the type that they are kept in


class Structure(Struct, frozen=True, eq=False):
    family: Family
    sizes: Sizes
    blocks: tuple[BlockCount, ...]
    attention: tuple[AttentionKind, ...]
    in_float: tuple[str, ...]  # kinds of blocks whose weights are kept in floating point, all or nearly
    residuals: dict[str, int]
    work: tuple[Part, ...]
    tree: Box | None
    task: Task
    dataset: Dataset
    contradictions: tuple[str, ...]  # where the file's metadata says other than its graph
    roles: dict[str, str]  # of inputs and outputs, by name
    samples: dict[str, Sample]  # how to fill inputs, by name
    places: dict[int, str]  # by row: the layer and block that a node stands in
    gap: str  # why there is no more
    box_rows: dict[str, tuple[int, ...]] = {}  # by the id of a box: the rows whose numbers it has


_RAISED: Final = f", too many to look for structure; {OPTIONS['rows']} raises the limit"
_TOO_MANY: Final = "with functions opened at every call there are over {:,} nodes" + _RAISED
_TOO_DENSE: Final = "nodes read over {:,} values" + _RAISED


def describe(facts: Facts) -> Structure:
    ledger = Ledger(facts)
    said = dataset(facts.model)
    read = sum(len(node.inputs) for graph in all_graphs(facts.model) for node in graph.nodes)
    if not ledger.whole or read > most_rows(facts):
        why = _TOO_DENSE.format(most_rows(facts)) if ledger.whole else _TOO_MANY.format(most_rows(facts))
        return undescribed(facts, why)
    net = blocks(facts.model, facts.shapes, ledger.runs)
    ledger.settle(facts, net)
    return _described(facts, net, ledger, said)


def undescribed(facts: Facts, why: str) -> Structure:
    """What there is to say where the graph could not be looked at."""
    unknown, said = Family("unknown", (why,)), dataset(facts.model)
    task_, filled = Task(None, 0.0, None, ()), samples(facts, {})
    return Structure(unknown, Sizes(), (), (), (), {}, (), None, task_, said, (), {}, filled, {}, why)


def _described(facts: Facts, net: Net, ledger: Ledger, said: Dataset) -> Structure:
    known = roles(net, facts.model)
    ports = Ports(net, known)
    sketch = sketched(net, ledger, MOST_BOXES - ports.count)
    kin = family(net, ledger, facts.cache is not None, known)
    counted = tuple(_counted(net, ledger, sketch))
    meant = task(facts, net, known, kin.name, said)
    drawn, box_rows = tree(Path(facts.model.path).name, sketch, ports, ledger)
    return Structure(
        family=kin,
        sizes=sizes(net, kin.name),
        blocks=counted,
        attention=attention(net),
        in_float=tuple(row.kind for row in counted if _is_float(row.dtypes)),
        residuals=dict(sorted(Counter(term.facts["skip"] for term in net if "skip" in term.facts).items())),
        work=work(net, ledger),
        tree=drawn,
        task=meant,
        dataset=said,
        contradictions=(*_contradictions(facts, said), *disputed(meant, said)),
        roles=known,
        samples=samples(facts, known),
        places=places(net, sketch),
        gap=net.cut,
        box_rows=box_rows,
    )


def _counted(net: Net, ledger: Ledger, sketch: Sketch) -> list[BlockCount]:
    found = by_block(net, ledger, (*words.SHOWN, *dict.fromkeys(words.NAMED.values())))
    rows = [BlockCount(kind, count, spent.params, spent.macs, spent.dtypes) for kind, (count, spent) in found.items()]
    merges = [term for term in net if term.facts.get("merge")]
    if merges:
        rows.append(BlockCount(_MERGE, len(merges), 0, 0, {}))
    for kind in _UNITS:
        units = [unit for unit in sketch.units if unit.kind == kind]
        if units:
            spent = ledger.spent(term for unit in units for term in unit.terms)
            rows.append(BlockCount(kind, len(units), spent.params, spent.macs, spent.dtypes))
    return rows


def _is_float(dtypes: dict[str, int]) -> bool:
    floats = sum(count for dtype, count in dtypes.items() if is_float(dtype))
    return floats > _NEARLY_ALL * sum(dtypes.values()) > 0


def _contradictions(facts: Facts, said: Dataset) -> tuple[str, ...]:
    known = facts.shapes.values
    outputs = {value.name: known[value.name].concrete for value in facts.model.graph.outputs if value.name in known}
    inputs = {
        value.name: tuple(dim if isinstance(dim, int) else None for dim in value.type.dims)
        for value in inputs_of(facts.model)
        if value.type is not None and value.type.dims is not None
    }
    return contradictions(said, outputs, inputs)
