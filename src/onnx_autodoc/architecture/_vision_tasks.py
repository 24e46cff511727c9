"""Tasks of pictures: boxes, masks, pictures made of pictures or of latents."""

from typing import Final

from onnx_autodoc.architecture._case import Case, Verdict
from onnx_autodoc.patterns import words
from onnx_autodoc.patterns.heads import Head

_NAMES: Final = {"detection": "object detection", "pose": "pose estimation", "oriented": "oriented object detection"}

_PERSON: Final = (17, 133)  # points, as COCO counts them


def diffusion(case: Case) -> Verdict | None:
    """A time goes in, and what comes out is as large as what went in."""
    steps, noisy = case.given("timestep"), case.given("latent", "image")
    if not steps or not noisy:
        return None
    same = [name for name in case.net.outputs if _alike(case.dims(name), case.dims(noisy[0]))]
    said = (
        (f"{steps[0]} becomes sines and cosines: a time step", f"{same[0]} is as large as {noisy[0]}") if same else ()
    )
    return Verdict("diffusion step", 0.92, said) if same else None


def _alike(one: tuple[int, ...] | None, other: tuple[int, ...] | None) -> bool:
    """As large; channels may be twice as many (a variance beside the mean)."""
    if one is None or other is None or len(one) != len(other):
        return False
    return one == other or (len(one) == 4 and one[2:] == other[2:] and one[1] == 2 * other[1])


def boxes(case: Case) -> Verdict | None:
    found = case.of("detection", "pose", "oriented")
    prototypes = case.of("prototypes")
    if prototypes and found:
        return Verdict("instance segmentation", 0.9, (found[0].evidence, prototypes[0].evidence), _classes(found))
    if found and case.given("image", "features", "latent"):
        sure = 0.75 if found[0].kind == "pose" else 0.6 if found[0].kind == "oriented" else 0.9
        also = ("pose estimation", "instance segmentation", "oriented object detection", "object detection")
        said = tuple(dict.fromkeys(head.evidence for head in found[:2]))
        return Verdict(_NAMES[found[0].kind], sure, said, _classes(found), also=also)
    if case.of("raw-detection") and case.given("image"):
        return Verdict("object detection", 0.6, tuple(head.evidence for head in case.of("raw-detection")[:2]))
    box, scores = case.of("boxes"), case.of("scores")
    if box and scores and case.given("image"):
        return Verdict("object detection", 0.92, (box[0].evidence,), _classes(scores))
    return None


def _classes(found: list[Head]) -> int | None:
    return next((head.classes for head in found if head.classes), None)


def pictures(case: Case) -> Verdict | None:
    """Pictures out."""
    enlarged = [head for head in case.of("map") if _factor(case, head) > 1 and not _shrinks(case)]
    found = case.of("picture") or enlarged
    if not found or len(case.answers) > 1:
        return None
    return _of_latent(case, found[0]) if case.given("latent") else _of_picture(case, found[0])


def _of_latent(case: Case, head: Head) -> Verdict:
    dims = case.dims(case.given("latent")[0]) or ()
    if len(dims) == 4 and dims[-1] > 1:
        return Verdict("latent decoding", 0.85, (head.evidence, case.said("latent")))
    return Verdict("image generation", 0.7, (head.evidence, case.said("latent")))


def _of_picture(case: Case, head: Head) -> Verdict | None:
    factor = _factor(case, head)
    if factor > 1 and not _shrinks(case):
        return Verdict("super resolution", 0.85, (head.evidence, f"{factor} times as many on each side as went in"))
    if factor == 1:
        return Verdict("image-to-image", 0.7, (head.evidence, "as many as went in"), also=("depth estimation",))
    return None


def _factor(case: Case, head: Head) -> int:
    """How many times larger than the picture that went in; 0 if it is not a whole number."""
    given = case.given("image")
    before = case.dims(given[0]) if given else None
    if before is None or len(before) != 4 or not head.places:
        return 0
    sides = before[2:] if case.roles[given[0]].endswith("NCHW") else before[1:3]
    area = sides[0] * sides[1]
    root = round((head.places / area) ** 0.5) if area else 0
    return root if root and root * root * area == head.places else 0


def _shrinks(case: Case) -> bool:
    """Whether it looks at the picture in steps first: nets that enlarge pictures look at each pixel."""
    strided = [term for term in case.blocks("conv", "conv-norm-act") if not term.facts.get("transposed")]
    steps = [max(term.facts.get("strides") or (1,)) for term in strided]
    return bool(case.blocks("patch-embedding")) or max(steps, default=1) > 1


def _joins_back(case: Case) -> bool:
    """Features of the way down are joined on the way up: nothing is squeezed through a middle, as to restore it."""
    return any(term.facts.get("skip") == "concat" for term in case.net)


def maps(case: Case) -> Verdict | None:
    """Something for each pixel."""
    if len(case.given("image")) != 1:
        return None
    if case.gray and case.of("text-map", "map") and not _joins_back(case):
        return None
    if found := case.of("text-map"):
        return Verdict("text detection", 0.6, (found[0].evidence,), also=("semantic segmentation",))
    if found := case.of("segmentation"):
        return _of_classes(case, _chosen(found)) if _is_alone(case, found) else None
    found = case.of("map")
    return _of_one_map(case, found[0]) if found and len(found) == len(case.answers) else None


def _chosen(found: list[Head]) -> Head:
    return next((head for head in found if head.act), found[0])


def _is_alone(case: Case, found: list[Head]) -> bool:
    """Coarse maps of several widths side by side are a score and a box for each cell, and no masks."""
    return len({head.classes for head in found}) == 1 or any(_factor(case, head) == 1 for head in found)


def _narrows(case: Case) -> bool:
    """Whether it looks at more than a few pixels: through steps or pools, and back to the size that went in."""
    return _shrinks(case) or bool(case.blocks(*words.SHRINKING))


def _of_classes(case: Case, head: Head) -> Verdict:
    if head.classes in _PERSON and head.act is None and _factor(case, head) != 1:
        said = (head.evidence, f"{head.classes} maps: the points of a person")
        return Verdict("pose estimation", 0.6, said, also=("semantic segmentation",))
    restored = _factor(case, head) == 1 and _narrows(case)
    sure = 0.9 if head.act in ("argmax", "softmax") else 0.75 if restored else 0.6
    return Verdict("semantic segmentation", sure, (head.evidence,), head.classes, also=("pose estimation",))


def _of_one_map(case: Case, head: Head) -> Verdict | None:
    if head.act == "sigmoid":
        said = (f"{head.evidence}, each a probability",)
        return Verdict("semantic segmentation", 0.55, said, also=("depth estimation",))
    if case.family in ("vision-transformer", "hybrid"):
        return Verdict("depth estimation", 0.5, (head.evidence,), also=("semantic segmentation",))
    return None
