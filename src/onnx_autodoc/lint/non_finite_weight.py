"""A weight holds what is no number: NaN or infinity.

Why it matters: NaN goes through every sum and product that it meets, so whatever this weight touches comes out as NaN,
in all runs or for some inputs. It is left behind by a training run that diverged, by a conversion to a type that is too
small for the value (float16 ends at 65,504), or by a damaged file.

What to do: load the checkpoint that was exported and look for it there (torch.isnan(w).any() over the state_dict); if
it is clean, export in float32 or bfloat16, or keep the nodes that read it in float32 (node_block_list of
onnxconverter_common.float16.convert_float_to_float16). If it is not, export an earlier checkpoint.

Only with --weights. Looked at are weights: constants that no one learned are not. Infinities are reported only where a
matrix or a scale of a normalization holds them: added to scores they are a mask, and usual. NaN beside a condition
(Where, a comparison) is not reported, it may be there on purpose.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._weight_stats import Weighed, axes, named, weighed
from onnx_autodoc.ops import judged
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.ERROR
NEEDS_WEIGHTS: Final = True


def check(case: Case) -> Iterator[Found]:
    found = [each for each in weighed(case) if _is_broken(each)]
    if found:
        names = tuple(each.numbers.name for each in found)
        counts = _counts(found)
        spreads = any(each.op in judged.SPREADING for each in found)
        holds = "holds" if len(found) == 1 else "hold"
        message = f"{plural(len(found), 'weight')} {holds} {counts}: {named(names)}"
        yield Found(message, names, severity=None if spreads else Severity.WARNING)


def _is_broken(each: Weighed) -> bool:
    if each.numbers.nan:
        return each.op not in judged.CHOOSING
    in_matrix = each.op in judged.MULTIPLYING and axes(each.numbers) > 1
    return bool(each.numbers.infinite) and (in_matrix or each.op in judged.SCALING)


def _counts(found: list[Weighed]) -> str:
    nan, infinite = (sum(getattr(each.numbers, name) or 0 for each in found) for name in ("nan", "infinite"))
    said = [f"{nan:,} NaN"] if nan else []
    return " and ".join([*said, *([plural(infinite, "infinity", "infinities")] if infinite else [])])
