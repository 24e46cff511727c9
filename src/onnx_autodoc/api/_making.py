"""The parts of a card, each made by itself: one that fails leaves a gap, and the rest stands."""

import hashlib
from collections.abc import Callable
from os import PathLike
from typing import Final, TypeVar

from onnx_autodoc.analysis import Facts, Gap, measure
from onnx_autodoc.analysis.weights import Weights, external_hashes, survey
from onnx_autodoc.architecture import Structure, describe, undescribed
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.hardware import HardwareSection, Wanted, hardware
from onnx_autodoc.ir import Model, count_nodes
from onnx_autodoc.limits import limits
from onnx_autodoc.lint import Case, Judged, judge
from onnx_autodoc.readers import FileSource, held, read
from onnx_autodoc.runtime import Options, Verified, verify_facts
from onnx_autodoc.sandbox import allow, allow_model, part
from onnx_autodoc.shapes import Request, fit, unresolved

T = TypeVar("T")

_PIECE: Final = 1 << 20
_EACH_BYTE: Final = 1 / 20e6  # seconds that reading may take: some ten times what it takes


class Making:
    """A model on its way to a card. `lost` says what could not be made."""

    def __init__(self, path: str | PathLike[str], request: Request) -> None:
        self.model = read(path)
        allow_model(count_nodes(self.model))
        self.lost: tuple[Gap, ...] = ()
        self.facts = self._part("shapes", lambda: facts_of(self.model, request), self._unresolved)
        self.structure = self._part("structure", lambda: describe(self.facts), lambda why: undescribed(self.facts, why))

    def hashes(self) -> dict[str, str | None]:
        allow(_EACH_BYTE * held(self.model))
        return {**external_hashes(self.model), "": _sha256(self.model.path)}

    def weights(self) -> Weights | None:
        allow(_EACH_BYTE * held(self.model))
        return self._part("weights", lambda: survey(self.model), self._without("weights"))

    def measured(self) -> Verified | None:
        return self._part("measured", self._run, self._without("measured"))

    def hardware(self, wanted: Wanted) -> HardwareSection | None:
        return self._part("hardware", lambda: hardware(self.facts, self.structure, wanted), self._without("hardware"))

    def findings(self, structure: Structure, weights: Weights | None) -> Judged:
        case = Case(self.facts, structure, weights)
        return self._part("findings", lambda: judge(case), lambda why: ((), (Gap("findings", why),)))

    def _part(self, name: str, work: Callable[[], T], instead: Callable[[str], T]) -> T:
        return part(name, self.model.path, work, instead)

    def _run(self) -> Verified | None:
        """A model that cannot be run has a card nevertheless."""
        options = Options(timeout=limits().seconds or Options().timeout)
        try:
            return verify_facts(self.facts, self.structure.samples, options)
        except AutodocError as error:
            return self._without("measured")(str(error))

    def _unresolved(self, why: str) -> Facts:
        return measure(self.model, *unresolved(self.model, why))

    def _without(self, section: str) -> Callable[[str], None]:
        def instead(why: str) -> None:
            self.lost = (*self.lost, Gap(section, why))

        return instead


def facts_of(model: Model, request: Request) -> Facts:
    binding, shapes = fit(model, request)
    return measure(model, binding, shapes)


def _sha256(path: str) -> str:
    """Of the whole file, weights included, in pieces."""
    digest, offset = hashlib.sha256(), 0
    with FileSource(path) as source:
        while piece := source.read(offset, _PIECE):
            digest.update(piece)
            offset += len(piece)
    return digest.hexdigest()
