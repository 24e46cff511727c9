"""Trees of boxes as the card would hold them: the shapes that models have, small enough to read."""

from itertools import pairwise

from onnx_autodoc.card import Box, Edge


def box(name: str, kind: str = "other", label: str = "", detail: str | None = None, **more: object) -> Box:
    """A box with what matters to a test; the rest is plain."""
    plain = {"count": 1, "params": 0, "macs": None, "share": None, "nodes": 1, "repeats": False}
    given = {**plain, "children": (), "edges": (), **more}
    return Box(id=name, kind=kind, label=label or name, detail=detail, **given)  # type: ignore[arg-type]


def edge(source: str, target: str, *shape: int, kind: str = "data", dtype: str | None = "float32") -> Edge:
    return Edge(source, target, shape or None, dtype, kind)


def chain(boxes: tuple[Box, ...], *shape: int) -> tuple[Edge, ...]:
    return tuple(edge(one.id, two.id, *shape) for one, two in pairwise(boxes))


def root(boxes: tuple[Box, ...], edges: tuple[Edge, ...]) -> Box:
    return box("root", "model", "model", children=boxes, edges=edges)


def encoder() -> Box:
    """A BERT: embeddings, six folded layers that open into a diagram of their own, a pooled output."""
    parts = (
        box("a", "attention", "Attention", "12 heads × 32", params=591_360, macs=88_080_384, share=0.061),
        box("n1", "layer-norm", "Add + LayerNorm", params=768, macs=0),
        box("f", "mlp", "MLP", "gelu, 384 → 1536 → 384", params=1_181_568, macs=150_994_944, share=0.105),
        box("n2", "layer-norm", "Add + LayerNorm", params=768, macs=0),
    )
    inner = (*chain(parts, 1, 128, 384), edge("n1", "n2", 1, 128, 384, kind="skip"))
    work = {"params": 10_646_784, "macs": 1_434_451_968, "share": 1.0, "nodes": 600}
    boxes = (
        box("i", "input", "input_ids", "tokens"),
        box("t", "input", "token_type_ids", "segment"),
        box("e", "embedding", "Embedding", "30,522 × 384", params=11_917_824),
        box("m", "input", "attention_mask", "mask"),
        box(
            "l",
            "encoder-layer",
            "Encoder layer",
            "post-norm",
            count=6,
            repeats=True,
            children=parts,
            edges=inner,
            **work,
        ),
        box("o", "output", "last_hidden_state"),
    )
    edges = (
        edge("i", "e", 1, 128, dtype="int64"),
        edge("t", "e", 1, 128, dtype="int64"),
        edge("e", "l", 1, 128, 384),
        edge("m", "l", 1, 128, dtype="int64"),
        edge("l", "o", 1, 128, 384),
    )
    return root(boxes, edges)


def long_chain(number: int = 30) -> Box:
    kinds = ("conv-norm-act", "inverted-residual", "bottleneck", "layer-norm", "linear")
    inner = tuple(
        box(
            f"b{at}",
            kinds[at % 5],
            f"Stage {at} of a long network",
            f"3×3, {2**at % 999} channels",
            params=10**5 * at,
            share=0.03,
        )
        for at in range(1, number - 1)
    )
    boxes = (box("i", "input", "images"), *inner, box("o", "output", "logits"))
    return root(boxes, chain(boxes, 1, 64, 112, 112))


def two_towers() -> Box:
    """CLIP: pictures on one side, words on the other, and a comparison."""
    image = (
        box("px", "input", "pixel_values"),
        box("pe", "patch-embedding", "Patch embedding", "16×16, 768", params=590_592, share=0.01),
        box("vl", "encoder-layer", "Vision layer", "12 heads × 64", count=12, params=85_054_464, share=0.86),
        box("vp", "linear", "Projection", "768 → 512", params=393_216),
    )
    text = (
        box("ids", "input", "input_ids"),
        box("te", "embedding", "Token embedding", "49,408 × 512", params=25_296_896),
        box("tl", "encoder-layer", "Text layer", "8 heads × 64", count=12, params=37_828_608, share=0.13),
        box("tp", "linear", "Projection", "512 → 512", params=262_144),
    )
    end = (box("s", "matmul", "Similarity"), box("o", "output", "logits_per_image"))
    edges = (*chain(image, 1, 197, 768), *chain(text, 1, 77, 512), edge("vp", "s", 1, 512), edge("tp", "s", 1, 512))
    return root((*image, *text, *end), (*edges, edge("s", "o", 1, 1)))


def unet(depth: int = 4) -> Box:
    """Down, across and up again, with a skip at every depth."""
    down = tuple(
        box(f"d{at}", "conv-norm-act", f"Down {at + 1}", f"{64 << at} channels", params=37_000 << 2 * at, share=0.1)
        for at in range(depth)
    )
    up = tuple(
        box(f"u{at}", "conv-norm-act", f"Up {at + 1}", f"{64 << at} channels", params=74_000 << 2 * at, share=0.12)
        for at in reversed(range(depth))
    )
    middle = box("mid", "bottleneck", "Middle", "1024 channels", params=14_158_848, share=0.12)
    boxes = (box("x", "input", "sample"), *down, middle, *up, box("y", "output", "out_sample"))
    skips = tuple(edge(f"d{at}", f"u{at}", 1, 64 << at, 256 >> at, 256 >> at, kind="skip") for at in range(depth))
    return root(boxes, (*chain(boxes, 1, 64, 256, 256), *skips))


def few() -> Box:
    boxes = (
        box("i", "input", "x"),
        box("g", "gru", "GRU", "256 units", params=394_752, share=1.0),
        box("o", "output", "y"),
    )
    return root(boxes, chain(boxes, 1, 50, 256))


HOSTILE = (
    'quote " and `tick`',
    "]) --> evil[boom",
    "end",
    "|pipe| & #35; #quot; &lt;b&gt;",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "line\nbreak\\nand\ttab",
    "**bold** _it_ __b__ ~~s~~",
    "1. list",
    "- item",
    "# title",
    "$$x^2$$",
    "%%{init: {'theme':'forest'}}%%",
    "%% comment",
    "www.example.org https://example.org/a?b=c",
    "someone@example.org",
    "fa:fa-car style x:y#1;z",
    "\u202etxt.exe\u200b\u0000",
    "ﬂ°quot¶ß ﬂ°°60¶ß",
    "click n0 href; classDef a fill:#f00;",
    "---\ntitle: x\n---",
    "模型 größe ñ 🙂",
    "x" * 500,
    "{{y}} ((z)) >a] [/b/] @{ shape: cyl }",
    "",
    "   spaces   ",
    "![a](b) [c](d)",
    "javascript:alert(1)",
)


def hostile() -> Box:
    """Names as a stranger's file may have them, each on a box of its own, as its detail and as the type of an edge."""
    boxes = tuple(box(name, "other", name, name) for name in HOSTILE)
    links = tuple(Edge(one, two, (1, 2), two, "data") for one, two in pairwise(HOSTILE))
    return root(boxes, links)


def hostile_layer() -> Box:
    """The same for the title of a frame."""
    name = "]`t` *b* $$x$$ <img src=x> fa:fa-car"
    parts = (box("p", name), box("q", name, name))
    layers = box("l", "layer", name, count=2, share=1.0, repeats=True, children=parts, edges=chain(parts, 1, 2))
    boxes = (box("i", "input", name), layers, box("o", "output", name))
    return root(boxes, chain(boxes))


TREES = {
    "encoder": encoder,
    "long-chain": long_chain,
    "two-towers": two_towers,
    "unet": unet,
    "few": few,
    "hostile": hostile,
    "hostile-layer": hostile_layer,
}
