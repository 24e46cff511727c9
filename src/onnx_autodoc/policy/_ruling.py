"""The tables of a policy on rules and runtimes: every name is one that there is, and what is allowed has a reason."""

from collections.abc import Mapping
from typing import Any

import msgspec

from onnx_autodoc.lint import RULES, RUNTIMES
from onnx_autodoc.policy._policy import FAIL_ON, Allow, Rules, Runtimes
from onnx_autodoc.policy._typed import Wrong, near, only, typed


def rules_of(data: dict[str, Any]) -> Rules:
    only(data, Rules, "[rules] ")
    entries = data.get("allow", [])
    if not isinstance(entries, list | tuple):
        raise Wrong("[rules] allow is a list of tables with rule and reason")
    allow = tuple(_allow(entry, f"[rules] allow, entry {at}") for at, entry in enumerate(entries, 1))
    _check_severities(data.get("severity"))
    found = typed({**data, "allow": ()}, Rules, "[rules]")
    for rule in (*(entry.rule for entry in allow), *found.severity):
        if rule not in RULES:
            raise Wrong(f"[rules] there is no rule {rule!r}{near(rule, RULES, '`onnx-autodoc rules` lists them')}")
    if found.fail_on not in FAIL_ON:
        raise Wrong(f"[rules] fail_on = {found.fail_on!r} is none of {', '.join(FAIL_ON)}")
    return msgspec.structs.replace(found, allow=allow)


def _allow(entry: Any, where: str) -> Allow:
    if not isinstance(entry, Mapping):
        raise Wrong(f'{where} is a table, such as {{ rule = "dynamic-input", reason = "the server batches" }}')
    for key in ("rule", "reason"):
        if key not in entry:
            raise Wrong(f"{where} has no {key}")
    reason = entry["reason"]
    if isinstance(reason, str) and not any(letter.isalnum() for letter in reason):
        raise Wrong(f"{where}: the reason is blank; say why it is right to allow it")
    found = typed(entry, Allow, where)
    for key, given in (("about", found.about), ("evidence", found.evidence)):
        if given is not None and not given.strip():
            raise Wrong(f"{where}: {key} is blank; leave it out to allow all of the rule")
    return found


def _check_severities(given: Any) -> None:
    for rule, severity in given.items() if isinstance(given, Mapping) else ():
        if severity == "off":
            raise Wrong("[rules] severity is never off; let findings stay with allow, which says why")
        if severity not in FAIL_ON[:-1]:
            raise Wrong(f"[rules] severity of {rule!r}: {severity!r} is none of {', '.join(FAIL_ON[:-1])}")


def runtimes_of(data: dict[str, Any]) -> Runtimes:
    found = typed(data, Runtimes, "[runtimes]")
    for runtime in found.require:
        if runtime not in RUNTIMES:
            alike = near(runtime, RUNTIMES, "there are " + ", ".join(RUNTIMES))
            raise Wrong(f"[runtimes] there is no runtime {runtime!r}{alike}")
    return Runtimes(tuple(dict.fromkeys(found.require)))
