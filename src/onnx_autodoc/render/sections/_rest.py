"""Long lists are cut where a reader would stop reading; that they are is said below them."""

from onnx_autodoc.render._blocks import Block, Paragraph
from onnx_autodoc.text import count


def rest(found: int, most: int) -> tuple[Block, ...]:
    """Nothing where all are shown."""
    if found <= most:
        return ()
    return (Paragraph((f"{count(found - most)} more {'is' if found - most == 1 else 'are'} in the JSON card.",)),)
