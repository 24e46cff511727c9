"""Hostile strings: metadata that is parsed, injection for each output format, invalid opsets."""

import json
from collections.abc import Callable
from typing import Final

from fuzz.wire import attr, call, chunk, floats, integer, model, node, opset, pair, value

_X: Final = value(11, "images", (1, 3, 32, 32))
_BODY: Final = _X + node("Relu", "images", "y") + value(12, "y", (1, 3, 32, 32))
_BIG: Final = 1 << 62


def _with_metadata(**entries: str) -> Callable[[], bytes]:
    """Encode a model with metadata."""
    return lambda: model(_BODY, extra=b"".join(pair(14, key, text) for key, text in entries.items()))


def _text_everywhere(text: str) -> Callable[[], bytes]:
    """Encode one text in every field: inputs, outputs, nodes, operators, domains, dims, metadata, doc strings."""

    def encoded() -> bytes:
        head = chunk(2, text + "p") + chunk(3, text + "v") + chunk(4, text + "d") + chunk(6, text + "\n\n" + text)
        ports = value(11, text, (text + "b", 3)) + value(12, text + "y", (text + "b", text + "q"))
        inside = chunk(1, text) + chunk(2, text + "h") + chunk(3, text + "n") + chunk(4, "Relu") + chunk(6, text)
        strange = chunk(1, text + "h") + chunk(2, text + "y") + chunk(4, text + "op") + chunk(7, text + "dom")
        held = chunk(5, attr(text + "a", text)) + chunk(3, text + "m")
        graph = (
            chunk(2, text + "g")
            + chunk(10, text)
            + ports
            + floats(text + "w", [1.0])
            + chunk(1, inside)
            + chunk(1, strange + held)
        )
        said = pair(14, text, text) + pair(14, "names", repr({0: text, 1: text + "c"})) + pair(14, "license", text)
        return head + model(
            graph, extra=opset(1, text + "dom") + said + pair(14, "author", text) + pair(14, "description", text)
        )

    return encoded


def _opsets(*sets: bytes, body: bytes = _BODY, ir: int = 8) -> Callable[[], bytes]:
    return lambda: integer(1, ir) + chunk(7, body) + b"".join(sets)


_STRINGS: Final = {
    "HTML: a script": "<script>alert(1)</script>",
    "HTML: out of a script": "</script></style></title></textarea><svg onload=alert(1)>",
    "HTML: out of an attribute": '" onmouseover="alert(1)" x=\'y\' onfocus=`alert(2)`',
    "HTML: a comment": "--><!--><!-- onnx-autodoc: end --><![CDATA[x]]>",
    "HTML: entities": "&lt;img src=x&gt; &#x3c;script&#x3e; &NewLine;",
    "HTML: a link that runs": "javascript:alert(1) data:text/html,<script>alert(1)</script>",
    "HTML: a template": "{{ 7*7 }} {% include '/etc/passwd' %} ${7*7} #{7*7}",
    "Markdown: a link": "](javascript:alert(1)) [x]: https://link.invalid",
    "Markdown: a picture": "![x](https://picture.invalid/x.png)",
    "Markdown: a fence": "\n```\n# heading\n~~~\n",
    "Markdown: a table": "a | b \\| c |\n|---|---|\n",
    "Markdown: a list and a rule": "\n- item\n---\n1. item\n    code\n",
    "Markdown: people and issues": "@everyone #1 GH-1 fixes #2 :smile: $x^2$",
    "terminal: colours": "\x1b[31;5mred\x1b[0m\x1b[2J\x1b[H",
    "terminal: a title and a clipboard": "\x1b]0;owned\x07\x1b]52;c;cm0gLXJm\x07\x1bP$q\x1b\\",
    "terminal: a hyperlink": "\x1b]8;;https://link.invalid\x1b\\text\x1b]8;;\x1b\\",
    "terminal: C1 controls": "\x9b31m\x9d0;x\x9c\x90\x85",
    "terminal: overwriting": "good\rbad\b\b\b\x7f\v\f",
    "terminal: rich's markup": "[bold red]x[/] [link=https://link.invalid]y[/link] [/",
    "bidi: overrides": "\u202egnp.exe\u202c \u2066x\u2069 \u200f\u061c",
    "bidi: blanks that are not": "a\u200bb\u2060c\ufeffd\u00ade\u3164f\U000e0041",
    "unicode: lone surrogates and the end": "\ufffe\uffff\U0010ffff\u2028\u2029",
    "unicode: a thousand marks": "z" + "\u0301" * 1_000,
    "unicode: wide letters": "漢" * 3_000,
    "CSV: a formula": '=HYPERLINK("https://formula.invalid")',
    "CSV: a command": "@SUM(1+1)*cmd|' /C calc'!A0",
    "CSV: plus, minus, tab": "\t=1+1",
    "CSV: quotes and lines": '"a",b\r\nc;"d',
    "workflow: an error": "::error file=x::said",
    "workflow: in a later line": "x\n::add-mask::y\n::set-output name=a::b\r::stop-commands::t",
    "workflow: escaped": "%0A::error::x%0D%25 ##[error]x ##vso[task.setvariable]y",
    "mermaid: out of a label": '"]; click n0 callback; n1["',
    "mermaid: directives": '%%{init: {"securityLevel": "loose"}}%%\nend\nsubgraph x',
    "mermaid: entities": "#quot; #35;lt; <br/> `md`",
    "YAML: front matter": "---\nlicense: mit\n---\n",
    "YAML: tags and anchors": "!!python/object/apply:os.system ['x'] &a *a {x: y}",
    "YAML: words": "yes\nno: null\n? - 0x1f: 1e3 # c",
    "XML: entities": "]]><!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>&a;",
    "JSON: out of a script": '</script>\u2028"\\u0000\\',
    "Python: out of a string": "'''\"\"\"\\\n__import__('os').system('x')\nf'{1}'",
    "SVG: a script": "<svg><script>1</script></svg><foreignObject>",
    "LaTeX": "\\input{/etc/passwd} $\\href{javascript:1}{x}$ %",
    "paths": "../../../../etc/passwd\0/CON/nul:$DATA",
    "formats": "%s%n%x {0.__class__} {} $(x) `x` ${IFS}",
    "SPDX expressions": "MIT OR (Apache-2.0 AND <x>) WITH \x00",
}

FILES: Final[dict[str, Callable[[], bytes]]] = {
    **{f"text: {name}": _text_everywhere(text) for name, text in _STRINGS.items()},
    "opsets: none": _opsets(),
    "opsets: 0": _opsets(opset(0)),
    "opsets: negative": _opsets(opset(-5)),
    "opsets: 2^62": _opsets(opset(_BIG)),
    "opsets: without a version": _opsets(chunk(8, b"")),
    "opsets: two of one domain": _opsets(opset(1), opset(21)),
    "opsets: ai.onnx and nothing": _opsets(opset(7, "ai.onnx"), opset(21)),
    "opsets: unknown domains only": _opsets(opset(1, "com.nobody"), opset(9, "org.nowhere")),
    "opsets: 5,000": _opsets(*(opset(at, f"d{at}") for at in range(5_000))),
    "opsets: a node of a domain not imported": _opsets(
        opset(17), body=_X + call("Gelu", "images", "y", "com.microsoft", 1)
    ),
    "opsets: ir 0": _opsets(opset(17), ir=0),
    "opsets: ir -1": _opsets(opset(17), ir=-1),
    "opsets: ir 2^62": _opsets(opset(17), ir=_BIG),
    "opsets: version 1 with new operators": _opsets(
        opset(1), body=_X + node("LayerNormalization", "images", "y", attr("axis", 1))
    ),
    "metadata: names in 3,000 brackets": _with_metadata(names="(" * 3_000 + ")" * 3_000),
    "metadata: names in 10^6 brackets": _with_metadata(names="[" * 1_000_000),
    "metadata: names as braces": _with_metadata(names="{" * 100_000 + "}" * 100_000),
    "metadata: names as dicts in dicts": _with_metadata(names="{0:" * 5_000 + "1" + "}" * 5_000),
    "metadata: names as minuses": _with_metadata(names="{0: " + "-" * 100_000 + "1}"),
    "metadata: names as a power": _with_metadata(names="9**9**9", stride="9**9**9"),
    "metadata: names as a sum": _with_metadata(names="1" + "+1" * 50_000),
    "metadata: names as a call": _with_metadata(names="__import__('os').system('x')"),
    "metadata: names as a comprehension": _with_metadata(names="[x for x in range(10**9)]"),
    "metadata: names as a long list": _with_metadata(names=str(list(range(200_000)))),
    "metadata: names of 10^5 classes": _with_metadata(names=str({at: f"class {at}" for at in range(100_000)})),
    "metadata: names with holes": _with_metadata(
        names="{0: 'a', 10000000000000000000000: 'b', -1: 'c', 'x': 'd', None: 'e'}"
    ),
    "metadata: names with odd values": _with_metadata(names="{0: None, 1: 1e999, 2: b'x', 3: ('a',), 4: {}, 5: 1j}"),
    "metadata: a number of 10^5 digits": _with_metadata(
        names="{0: " + "9" * 100_000 + "}", stride="9" * 100_000, batch="9" * 5_000
    ),
    "metadata: names in JSON": _with_metadata(names=json.dumps({str(at): "x" for at in range(1_000)})),
    "metadata: JSON 10^5 deep": _with_metadata(config="[" * 100_000 + "]" * 100_000, names='{"a":' * 100_000),
    "metadata: JSON with NaN": _with_metadata(
        config='{"a": NaN, "b": Infinity, "c": -Infinity, "d": 1e999}', imgsz="[NaN, Infinity]"
    ),
    "metadata: sizes that cannot be": _with_metadata(
        imgsz="[-1, 0]", stride="0", batch="-7", task="\x1b[31m", channels="1e309"
    ),
    "metadata: sizes of 2^70": _with_metadata(imgsz=f"[{1 << 70}, {1 << 70}]", stride=str(1 << 70)),
    "metadata: keypoints": _with_metadata(kpt_shape="[17, 3, 9" + ", 1" * 10_000 + "]"),
    "metadata: 20,000 entries": lambda: model(
        _BODY, extra=b"".join(pair(14, f"k{at}", f"v{at}") for at in range(20_000))
    ),
    "metadata: one key 5,000 times": lambda: model(
        _BODY, extra=b"".join(pair(14, "names", f"{{0: 'v{at}'}}") for at in range(5_000))
    ),
    "metadata: a text of 4 MB": _with_metadata(description="long " * 800_000, author="a" * 1_000_000),
    "metadata: escapes in quotes": _with_metadata(names="{0: '\\x1b[31m\\u202e\\ud800\\N{BELL}', 1: '\\777'}"),
    "metadata: f-strings and bytes": _with_metadata(names="{0: f'{1}', 1: rb'x', 2: 'a' 'b' * 3}"),
    "metadata: dates that cannot be": _with_metadata(date="9999999-99-99T99:99:99+99:99", version="v" * 10_000),
    "metadata: licences": _with_metadata(license="AGPL-3.0 License (https://link.invalid) " * 5_000),
    "metadata: empty keys": _with_metadata(**{"": "", " ": " ", "\0": "\0"}),
    "metadata: no UTF-8": lambda: model(_BODY, extra=chunk(14, chunk(1, b"names\xff") + chunk(2, b"{0: '\xff\xfe'}"))),
    "notes of 100,000 lines": lambda: model(_BODY, extra=chunk(6, "line\n" * 100_000)),
    "notes that are a report": lambda: model(
        _BODY, extra=chunk(6, "# Findings\n\nNo findings.\n\n<!-- onnx-autodoc: begin -->\n")
    ),
}
