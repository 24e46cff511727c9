"""The walk of one model, from its file to its card. Each step is a function of the values before it."""

import logging
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from os import PathLike
from typing import Final, NamedTuple, TypeVar

from onnx_autodoc import __version__
from onnx_autodoc.analysis import Facts, measure
from onnx_autodoc.analysis.weights import external_hashes, survey
from onnx_autodoc.api.hardware_options import HardwareOptions, add_measurement, add_profile, resolve_options
from onnx_autodoc.architecture import Structure, describe, describe_unknown
from onnx_autodoc.card import Gap, Generated, Verified
from onnx_autodoc.card.builder import add_measured_times, build_card, node_rows
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.hardware import estimate_hardware
from onnx_autodoc.ir import Model
from onnx_autodoc.limits import current_limits
from onnx_autodoc.lint import LintContext, LintResult, check
from onnx_autodoc.readers import read_model, stored_bytes
from onnx_autodoc.render import Report
from onnx_autodoc.sandbox import extend_deadline, extend_deadline_for_model, run_optional
from onnx_autodoc.shapes import Request, bind_and_infer, skip_inference
from onnx_autodoc.storage import FileSource

T = TypeVar("T")

_LOGGER: Final = logging.getLogger(__name__)
_HASH_WINDOW_BYTES: Final = 1 << 20
_SECONDS_PER_BYTE: Final = 1 / 20e6  # about ten times the usual time of reading
_MAX_EPOCH_DIGITS: Final = 11  # the year 5138


def make_card(
    path: str | PathLike[str],
    request: Request,
    options: HardwareOptions | None = None,
    *,
    sha256: bool = False,
    weights: bool = False,
    verify: bool = False,
) -> Report:
    """Return the card of a model file and the rows of its nodes.

    `sha256` hashes the files, `weights` reads the numbers in the weights, `verify` runs the model. A step that fails
    leaves its section out, with a gap that gives the reason; only reading must succeed.
    """
    options = options or HardwareOptions()
    hardware_request = resolve_options(options)
    if verify:
        from onnx_autodoc.runtime import require_onnxruntime

        require_onnxruntime()  # fail before any work
    analyzed = analyze_model(path, request)
    facts, structure = analyzed
    model, gaps = facts.model, list[Gap]()

    def optional(section: str, work: Callable[[], T]) -> T | None:
        return run_optional(section, model.path, work, lambda reason: gaps.append(Gap(section, reason)))

    hashes = _hash_files(model) if sha256 else {}
    if weights:
        extend_deadline(_SECONDS_PER_BYTE * stored_bytes(model))
    weight_stats = optional("weights", lambda: survey(model)) if weights else None
    measured = optional("measured", lambda: _verify(analyzed, gaps)) if verify else None
    hardware_request = add_measurement(add_profile(hardware_request, facts, options), measured)
    estimates = optional("hardware", lambda: estimate_hardware(facts, structure, hardware_request))
    structure = add_measured_times(structure, facts, measured)
    findings = run_optional(
        "findings",
        model.path,
        lambda: check(LintContext(facts, structure, weight_stats)),
        lambda reason: _skip_lint(reason, gaps),
    )
    card = build_card(
        facts, structure, generation_stamp(), findings, hashes, weight_stats, estimates, measured, tuple(gaps)
    )
    return Report(card, lambda: node_rows(facts, structure.places))


def _skip_lint(reason: str, gaps: list[Gap]) -> LintResult:
    gaps.append(Gap("findings", reason))
    return (), ()


class AnalyzedModel(NamedTuple):
    """A model that was read and measured, and its architecture."""

    facts: Facts
    structure: Structure


def analyze_model(path: str | PathLike[str], request: Request) -> AnalyzedModel:
    """Read a model, infer its shapes, measure it and describe its architecture."""
    _LOGGER.info("reading %s", path)
    started = time.perf_counter()
    model = read_model(path)
    _LOGGER.debug("reading of %s: %.1f ms, %d nodes", path, 1e3 * (time.perf_counter() - started), model.node_count)
    extend_deadline_for_model(model.node_count)
    facts = run_optional(
        "shapes",
        model.path,
        lambda: measure_model(model, request),
        lambda reason: measure(model, *skip_inference(model, reason)),
    )
    structure = run_optional(
        "structure", model.path, lambda: describe(facts), lambda reason: describe_unknown(facts, reason)
    )
    return AnalyzedModel(facts, structure)


def measure_model(model: Model, request: Request) -> Facts:
    """Bind the dynamic dimensions, infer all shapes, and measure the model at these."""
    binding, shapes = bind_and_infer(model, request)
    return measure(model, binding, shapes)


def _verify(analyzed: AnalyzedModel, gaps: list[Gap]) -> Verified | None:
    """Run the model. One that cannot be run has a card nevertheless."""
    from onnx_autodoc.runtime import Options, verify_facts

    options = Options(timeout=current_limits().seconds or Options().timeout)
    try:
        return verify_facts(analyzed.facts, analyzed.structure.samples, options)
    except AutodocError as error:
        gaps.append(Gap("measured", str(error)))
        return None


def _hash_files(model: Model) -> dict[str, str | None]:
    """Return the SHA-256 of the external files by path, and of the model file under the empty path."""
    import hashlib  # loads OpenSSL

    extend_deadline(_SECONDS_PER_BYTE * stored_bytes(model))
    digest, offset = hashlib.sha256(), 0
    with FileSource.open(model.path) as source:
        while piece := source.read(offset, _HASH_WINDOW_BYTES):
            digest.update(piece)
            offset += len(piece)
    return {**external_hashes(model), "": digest.hexdigest()}


def generation_stamp() -> Generated:
    """Return the tool, its version and the time, which SOURCE_DATE_EPOCH fixes for reproducible output."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(fixed) if fixed.isdecimal() and len(fixed) <= _MAX_EPOCH_DIGITS else int(time.time())
    at = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Generated("onnx-autodoc", __version__, at)
