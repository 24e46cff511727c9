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
    """An external data path leads outside the model's folder.

Why it matters: an absolute path, or one that leads upwards, makes a program read any file of the machine that loads the
model. onnx and onnxruntime reject such paths; a loader that accepts them can be made to disclose files.

What to do: do not load a file of unknown origin with such a path. For your own model, move the weights into the model's
folder and store their file name in the model: model = onnx.load(path, load_external_data=False), set the value of every
entry with the key "location" in tensor.external_data of model.graph.initializer, then onnx.save(model, path).

This tool never follows such a path, not even with --follow-links.
""",
)
def escaping_external_data(context: LintContext) -> Iterator[Violation]:
    paths = [file.path for file in context.model.external if escapes(file.path)]
    if paths:
        lead = pluralize(len(paths), "external data path leads", "external data paths lead")
        first = list_names(paths, 1, lambda path: display_name(path, 80))
        yield Violation(f"{lead} outside the model's folder: {first}", paths)


def escapes(path: str) -> bool:
    """Whether a path is absolute or leads out of its folder, on POSIX or on Windows."""
    normalized = posixpath.normpath(path.replace("\\", "/"))
    return normalized.startswith(("/", "../")) or normalized == ".." or bool(_DRIVE.match(path))


_MAX_MESSAGE_BYTES: Final = (1 << 31) - 1  # protobuf's limit
_NOTE_MESSAGE_BYTES: Final = 3 << 29


@rule(
    Severity.NOTE,
    """The model file is close to or above protobuf's limit of 2 GiB.

Why it matters: a protobuf message is limited to 2 GiB. Above the limit, onnx, onnxruntime and every tool built on
protobuf reject the file; close to it, they fail as soon as they add data.

What to do: store the weights in a separate file: export with external_data=True of torch.onnx.export or, for a file
that still loads, run onnx.save_model(model, "model.onnx", save_as_external_data=True, location="model.onnx.data").

The severity is note from 1.5 GiB, and error above 2 GiB.
""",
)
def inline_weights(context: LintContext) -> Iterator[Violation]:
    size = context.model.nbytes
    if size > _MAX_MESSAGE_BYTES:
        text = f"the file is one protobuf message of {format_bytes(size)}, above protobuf's limit of 2 GiB"
        yield Violation(text, severity=Severity.ERROR)
    elif size >= _NOTE_MESSAGE_BYTES:
        text = f"the file is one protobuf message of {format_bytes(size)}, close to protobuf's limit of 2 GiB"
        yield Violation(text)


@rule(
    Severity.WARNING,
    """A field that has one value is encoded several times.

Why it matters: protobuf's parsers take the last value, and so does this tool. Other parsers may take the first one, and
then see another model: another operator, another element type, weights from another file. No library writes such a
file; it was edited by hand, damaged, or made to mislead a check.

What to do: do not use a file of unknown origin with such fields. For your own model, write it again, which stores each
value once: onnx.save(onnx.load(path, load_external_data=False), path).
""",
)
def ambiguous_encoding(context: LintContext) -> Iterator[Violation]:
    for name, count in context.model.repeated_fields.items():
        fields = pluralize(count, f"field {name} is", f"fields {name} are")
        yield Violation(f"{fields} encoded again with another value; the last value holds")


_MAX_SENTENCES: Final = 3
_MAX_SENTENCE_CHARS: Final = 300
_METADATA_DEFECT: Final = "the metadata "  # the start of the reader's sentence on a key with two values


@rule(
    Severity.WARNING,
    """The metadata contradicts the graph.

Why it matters: programs read class names, image sizes and alphabets from the metadata. If these do not match the
outputs, results get wrong labels or the program fails.

What to do: determine which of the two is right (the graph is what runs), and correct the entry:
onnx.helper.set_model_props(model, {**{p.key: p.value for p in model.metadata_props}, "names": "…"}).

Compared only if the task declared by the exporter defines the layout of the outputs, or if the graph leaves no doubt
about its task. A key with two different values contradicts itself.
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
    f"Run again with {_FOLLOW_LINKS} if you trust the targets of the links, "
    "or put the files themselves into the model's folder"
)
_FILE_RECOMMENDATION: Final = "Put a regular file into the model's folder under the name that the model declares"


@rule(
    Severity.ERROR,
    """An external data file is missing or truncated, or was not opened.

Why it matters: the model cannot be loaded without it.

What to do: put the file into the model's folder under the name that the model declares; renaming a file does not update
that name. Download it again if it is too short. From Git LFS: git lfs pull.

Links are not followed by default, because a link can lead anywhere; --follow-links allows them, for example in a
download cache, whose files are links. onnx rejects links, too; for it, put the files themselves into the model's
folder. Pipes, devices and folders are never opened. Paths that lead outside the model's folder are reported by
escaping-external-data.
""",
)
def missing_external_data(context: LintContext) -> Iterator[Violation]:
    files = [file for file in context.model.external if not escapes(file.path)]
    absent = [file.path for file in files if file.nbytes is None and not file.reason]
    if absent:
        files_text = pluralize(len(absent), "external data file")
        listed = list_names(absent, _MAX_PATHS, lambda path: _show_path(path) if path else "one without a name")
        yield Violation(f"{files_text} not found: {listed}", absent, about="absent")
    short = [file for file in files if file.nbytes is not None and file.nbytes < file.required_bytes]
    if short:
        ends = f"{_show_path(short[0].path)} ends after {pluralize(short[0].nbytes or 0, 'byte')}"
        more = f"; {pluralize(len(short) - 1, 'more file is', 'more files are')} too short" if len(short) > 1 else ""
        message = f"{ends}, the model requires {format_count(short[0].required_bytes)}{more}"
        yield Violation(message, [file.path for file in short], about="too short")
    for is_link, about, severity, recommendation in (
        (True, "linked", Severity.WARNING, _LINK_RECOMMENDATION),
        (False, "refused", Severity.ERROR, _FILE_RECOMMENDATION),
    ):
        unopened = [file for file in files if file.reason and (_FOLLOW_LINKS in file.reason) is is_link]
        if unopened:
            were = pluralize(len(unopened), "external data file was", "external data files were")
            name = _show_path(unopened[0].path) if unopened[0].path else "one of them"
            message = f"{were} not opened: {name} {unopened[0].reason}" + (" …" if len(unopened) > 1 else "")
            yield Violation(message, [file.path for file in unopened], recommendation, severity, about=about)


def _show_path(path: str) -> str:
    return display_name(path, _MAX_PATH_CHARS)


_MAX_KEYS: Final = 3
_TOOL_PREFIXES: Final = ("onnx.", "pkg.", "onnx_", "optimum")  # of keys that optimizers and exporters write


@rule(
    Severity.INFO,
    """The file has no description, version or metadata.

Why it matters: once a file has left its project's folder, its version, its training data and its license cannot be
determined.

What to do: add the metadata to the file: model = onnx.load(path, load_external_data=False); model.doc_string = "What it
is"; onnx.helper.set_model_props(model, {"author": "…", "license": "…", "version": "…"}); onnx.save(model, path).

Reported only if the file has no description, no version and no metadata except entries that tools write for themselves.
The name of the exporter does not describe the model.
""",
)
def missing_metadata(context: LintContext) -> Iterator[Violation]:
    model = context.model
    entries = [key for key, value in model.metadata.items() if value.strip()]
    if model.doc.strip() or model.graph.doc.strip() or model.version:
        return
    if all(key.lower().startswith(_TOOL_PREFIXES) for key in entries):
        producer = "" if model.producer.strip() else ", producer"
        keys = list_names(list(model.metadata), _MAX_KEYS)
        tools = f" except tool entries ({keys})" if keys else ""
        yield Violation(f"the file has no description, version{producer} or metadata{tools}")
