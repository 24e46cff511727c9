"""Rules on the files of a model: metadata, size, external data."""

import posixpath
import re
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.limits import OPTIONS
from onnx_autodoc.lint.context import LintContext
from onnx_autodoc.lint.rule import Severity, Violation, list_names, rule
from onnx_autodoc.text import display_name, format_bytes, format_count, pluralize, sanitize

_DRIVE: Final = re.compile("[A-Za-z]:")


@rule(
    Severity.ERROR,
    """The file takes weights from outside of its own folder.

Why it matters: a path that is absolute or leads upwards makes a program read any file of the machine that loads the
model. onnx and onnxruntime refuse such paths; a loader that does not can be made to give files away.

What to do: do not load a file of unknown origin that does this. If it is your own, put the weights beside it and write
their name into it: model = onnx.load(path, load_external_data=False), set the value of every entry with the key
"location" in tensor.external_data of model.graph.initializer, then onnx.save(model, path).

Such a path is never followed for this card, with --follow-links neither.
""",
)
def escaping_external_data(context: LintContext) -> Iterator[Violation]:
    paths = [file.path for file in context.model.external if escapes(file.path)]
    if paths:
        lead = pluralize(len(paths), "path to weights leads", "paths to weights lead")
        first = list_names(paths, 1, lambda path: display_name(path, 80))
        yield Violation(f"{lead} out of the model's folder: {first}", paths)


def escapes(path: str) -> bool:
    """Whether a path is absolute or leads out of its folder, on POSIX or on Windows."""
    normalized = posixpath.normpath(path.replace("\\", "/"))
    return normalized.startswith(("/", "../")) or normalized == ".." or bool(_DRIVE.match(path))


_MAX_MESSAGE_BYTES: Final = (1 << 31) - 1  # protobuf's limit
_NOTE_MESSAGE_BYTES: Final = 3 << 29


@rule(
    Severity.NOTE,
    """The model's own file is larger than protobuf can read, or nearly.

Why it matters: a protobuf message ends at 2 GiB. Beyond that onnx, onnxruntime and every tool built on protobuf refuse
the file, and near it they fail as soon as they add something.

What to do: keep the weights in a file of their own: export with external_data=True of torch.onnx.export, or for a file
that still loads onnx.save_model(model, "model.onnx", save_as_external_data=True, location="model.onnx.data").

From 1.5 GiB on it is a note, beyond 2 GiB an error.
""",
)
def inline_weights(context: LintContext) -> Iterator[Violation]:
    size = context.model.nbytes
    if size > _MAX_MESSAGE_BYTES:
        text = f"the file is {format_bytes(size)} in one message, and protobuf reads no more than 2 GiB"
        yield Violation(text, severity=Severity.ERROR)
    elif size >= _NOTE_MESSAGE_BYTES:
        yield Violation(f"the file is {format_bytes(size)} in one message, close to the 2 GiB that protobuf can read")


_MAX_SENTENCES: Final = 3
_MAX_SENTENCE_CHARS: Final = 300
_METADATA_DEFECT: Final = "the metadata "  # the start of the reader's sentence on a key with two values


@rule(
    Severity.WARNING,
    """The file's metadata says something that its graph does not bear out.

Why it matters: programs read class names, image sizes and alphabets from the metadata. Where these do not fit the
outputs, results get wrong labels or the program fails.

What to do: find out which of the two is right (the graph is what runs), and correct the entry:
onnx.helper.set_model_props(model, {**{p.key: p.value for p in model.metadata_props}, "names": "…"}).

Compared only where the exporter's own word for the task tells how its outputs are laid out, or where the graph leaves
no doubt what it is for. A key that is there twice with two values contradicts itself.
""",
)
def metadata_contradiction(context: LintContext) -> Iterator[Violation]:
    repeated = [defect for defect in context.model.defects if defect.startswith(_METADATA_DEFECT)]
    structure = context.structure
    problems = list(dict.fromkeys((*repeated, *structure.contradictions, *structure.dataset.problems)))
    if problems:
        sentences = [sanitize(text, _MAX_SENTENCE_CHARS) for text in problems[:_MAX_SENTENCES]]
        if len(problems) > _MAX_SENTENCES:
            sentences.append(f"and {len(problems) - _MAX_SENTENCES} more")
        yield Violation("; ".join(sentences))


_MAX_PATHS: Final = 3
_MAX_PATH_CHARS: Final = 60
_FOLLOW_LINKS: Final = OPTIONS["follow_links"]
_LINK_RECOMMENDATION: Final = (
    f"Run again with {_FOLLOW_LINKS} if you trust where the links lead, or put the files themselves beside the model"
)
_FILE_RECOMMENDATION: Final = "Put a plain file beside the model under the name that the model has for it"


@rule(
    Severity.ERROR,
    """A file that holds the model's weights is not there, ends too early, or was not looked at.

Why it matters: without it the model cannot be loaded.

What to do: put the file beside the model under the name that the model has for it, which is written inside and does not
follow when files are renamed; fetch it again if it is too short. From Git LFS: git lfs pull.

Files behind links are not looked at, since a link can lead anywhere: --follow-links allows it, for a download cache for
instance, whose files are links. onnx refuses them, too; then put the files themselves beside the model. Pipes, devices
and folders are never opened. Paths that lead out of the model's folder are not looked at: escaping-external-data speaks
of them.
""",
)
def missing_external_data(context: LintContext) -> Iterator[Violation]:
    files = [file for file in context.model.external if not escapes(file.path)]
    absent = [file.path for file in files if file.nbytes is None and not file.reason]
    if absent:
        are = pluralize(len(absent), "file with weights is", "files with weights are")
        listed = list_names(absent, _MAX_PATHS, lambda path: _show_path(path) if path else "one without a name")
        yield Violation(f"{are} not there: {listed}", absent, about="absent")
    short = [file for file in files if file.nbytes is not None and file.nbytes < file.required_bytes]
    if short:
        ends = f"{_show_path(short[0].path)} ends after {pluralize(short[0].nbytes or 0, 'byte')}"
        more = f"; so do {format_count(len(short) - 1)} more" if len(short) > 1 else ""
        message = f"{ends}, its weights need {format_count(short[0].required_bytes)}{more}"
        yield Violation(message, [file.path for file in short], about="too short")
    for is_link, about, severity, recommendation in (
        (True, "linked", Severity.WARNING, _LINK_RECOMMENDATION),
        (False, "refused", Severity.ERROR, _FILE_RECOMMENDATION),
    ):
        unopened = [file for file in files if file.reason and (_FOLLOW_LINKS in file.reason) is is_link]
        if unopened:
            were = pluralize(len(unopened), "file with weights was", "files with weights were")
            name = _show_path(unopened[0].path) if unopened[0].path else "one of them"
            message = f"{were} not looked at: {name} {unopened[0].reason}" + (" …" if len(unopened) > 1 else "")
            yield Violation(message, [file.path for file in unopened], recommendation, severity, about=about)


def _show_path(path: str) -> str:
    return display_name(path, _MAX_PATH_CHARS)


_MAX_KEYS: Final = 3
_TOOL_PREFIXES: Final = ("onnx.", "pkg.", "onnx_", "optimum")  # of keys that optimizers and exporters write


@rule(
    Severity.INFO,
    """The file does not say what it is.

Why it matters: once a file has left the folder of its project, nobody can tell which version it is, what it was trained
on, or under which license it may be used.

What to do: write it into the file: model = onnx.load(path, load_external_data=False); model.doc_string = "What it is";
onnx.helper.set_model_props(model, {"author": "…", "license": "…", "version": "…"}); onnx.save(model, path).

Said only where there is nothing at all: no description, no version and no metadata but what tools leave there for
themselves. The name of the exporter tells nothing of the model.
""",
)
def missing_metadata(context: LintContext) -> Iterator[Violation]:
    model = context.model
    entries = [key for key, value in model.metadata.items() if value.strip()]
    if model.doc.strip() or model.graph.doc.strip() or model.version:
        return
    if all(key.lower().startswith(_TOOL_PREFIXES) for key in entries):
        producer = "" if model.producer.strip() else ", nor what made it"
        keys = list_names(list(model.metadata), _MAX_KEYS)
        tools = f" but what tools left there ({keys})" if keys else ""
        yield Violation(f"the file has no description, no version and no metadata{tools}{producer}")
