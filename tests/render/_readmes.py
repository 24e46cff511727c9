"""READMEs as people write them for the Hub, and how the Hub reads them."""

import re
from functools import cache
from typing import Any

import yaml
from msgspec.structs import replace

from onnx_autodoc.card import Card, Dataset
from onnx_autodoc.render import Report, readme
from tests._corpus import load_report

# As in huggingface_hub, repocard.py: "exact same regex as in the Hub server".
_BLOCK = re.compile(r"^(\s*---(?:\r\n|\r|\n))([\S\s]*?)((?:\r\n|\r|\n)---[ \t]*(\r\n|\n|$))")

FIELDS = "library_name: onnx\npipeline_tag: object-detection\nlicense: agpl-3.0\ntags:\n- onnx\n- int8"
OURS = readme.enclose("## In short\n\nA detector.\n")
NEW = f"---\n{FIELDS}\n---\n\n# best.onnx\n\n{OURS}\n## For people\n\nWho?\n"
PART = NEW[NEW.index(readme.BEGIN) : NEW.index(readme.END) + len(readme.END)]

HUMAN = """---
# reviewed by the whole team, do not reorder
language:
- en
- "no"          # Norwegian, not false
license: apache-2.0  # see LICENSE
thumbnail: 'https://example.org/a#b.png'
tags:
  - detection
  - "edge ai"   # quoted on purpose
widget:
- text: "A colon: here, and a # sign"
  example_title: |
    Two lines
      of title
model-index:
- name: best
  results:
  - task: {type: object-detection, name: "Object Detection"}
    dataset:
      type: coco
      name: COCO 2017
    metrics:
      - type: map
        value: 0.51
extra_gated_prompt: >-
  You agree to
  everything: yes.

datasets: [ coco ]   # only the train split
---
# Best detector \U0001f680

We made this by *hand*.

| split | mAP |
|-------|----:|
| val   | 0.51 |

```python
import onnxruntime
print("--- not front matter ---")
```

- In a list:
  ```bash
  pip install onnxruntime
  ```

---

Licence questions: write to us.\x20\x20
"""


def read_as_hub(text: str) -> dict[str, Any]:
    result = _BLOCK.search(text.removeprefix("\ufeff"))
    assert result is not None, "the Hub finds no front matter"
    data = yaml.safe_load(result[2] + "\n")
    return {} if data is None else dict(data)


def remove_generated(text: str) -> str:
    """What is not ours."""
    begin, end = text.index(readme.BEGIN), text.index(readme.END)
    return text[:begin] + text[end + len(readme.END) :]


HOSTILE = [
    readme.END,
    f"x\n{readme.END}\n---\nlicense: mit\n---\n",
    "---",
    "\n---\nlicense: mit\n---\n",
    "!!python/object/apply:os.system ['x']",
    "&anchor *alias <<: {a: b}",
    "<!-- onnx-autodoc: begin -->",
    "<!-- hidden",
    "name: [a, 'b\", {c}",
    "\ufeff\u2028\x85\x00\ud800",
]


@cache
def make_report(name: str) -> Report:
    return load_report(name)


def card(name: str) -> Card:
    return make_report(name).card


def declare(found: Card, **said: str) -> Card:
    dataset = replace(found.dataset, said=Dataset(extras=said))
    return replace(found, dataset=dataset)
