"""Tasks of images: diffusion, boxes, images computed from images or latents, classes per pixel."""

from typing import Final

from onnx_autodoc.architecture.task_context import (
    Condition,
    TaskContext,
    TaskRule,
    has_activation,
    is_activated,
    reads,
    rules_for,
)
from onnx_autodoc.patterns import Head, block_kinds

_BOX_LISTS: Final = ("detection", "pose", "oriented")
_BOX_TASKS: Final = ("pose estimation", "instance segmentation", "oriented object detection", "object detection")
_PERSON_KEYPOINTS: Final = (17, 133)  # of COCO


# Diffusion


def _denoised_output(context: TaskContext) -> str | None:
    """Return the output of the size of the noisy input; it may have a variance in addition to the mean."""
    noisy = context.inputs_of("latent", "image")
    before = context.dims(noisy[0]) if noisy else None
    for name in context.net.outputs:
        after = context.dims(name)
        if before is None or after is None or len(after) != len(before):
            continue
        if after == before or (len(after) == 4 and after[2:] == before[2:] and after[1] == 2 * before[1]):
            return name
    return None


def _is_denoising(context: TaskContext) -> bool:
    return context.reads("timestep") and _denoised_output(context) is not None


def _timestep_note(context: TaskContext) -> str:
    return f"{context.inputs_of('timestep')[0]} has a sinusoidal embedding: a timestep"


def _denoised_note(context: TaskContext) -> str:
    return f"{_denoised_output(context)} has the size of {context.inputs_of('latent', 'image')[0]}"


# Boxes


def _box_rule(kind: str, name: str, score: float) -> TaskRule:
    when = (reads("image", "features", "latent"), lambda context: context.head.kind == kind)
    return TaskRule(name, score, _BOX_LISTS, when=when, also=_BOX_TASKS, has_classes=True, quoted=2)


def _has_boxes_and_scores(context: TaskContext) -> bool:
    return context.reads("image") and {head.kind for head in context.selected} == {"boxes", "scores"}


# Images


def _scale_factor(context: TaskContext, head: Head) -> int:
    """Return how many times larger than the input image an output is; 0 if not a whole number."""
    images = context.inputs_of("image")
    dims = context.dims(images[0]) if images else None
    if dims is None or len(dims) != 4 or not head.positions:
        return 0
    height, width = dims[2:] if context.roles[images[0]].endswith("NCHW") else dims[1:3]
    area = height * width
    factor = round((head.positions / area) ** 0.5) if area else 0
    return factor if factor and factor * factor * area == head.positions else 0


def _has_strides(context: TaskContext) -> bool:
    """Whether the image is downsampled first. Networks that enlarge images process each pixel."""
    convs = [op.conv for op in context.net.of("conv", "conv-norm-act") if not op.conv.transposed]
    return context.has_block("patch-embedding") or any(max(conv.strides or (1,)) > 1 for conv in convs)


def _is_enlarged(context: TaskContext) -> bool:
    return _scale_factor(context, context.head) > 1 and not _has_strides(context)


def _is_image(context: TaskContext) -> bool:
    """Whether the only result is an image, or a map of one channel that is enlarged."""
    return len(context.results) == 1 and (context.head.kind == "image" or _is_enlarged(context))


def _has_spatial_latent(context: TaskContext) -> bool:
    dims = context.dims(context.inputs_of("latent")[0]) or ()
    return len(dims) == 4 and dims[-1] > 1


def _keeps_size(context: TaskContext) -> bool:
    return _scale_factor(context, context.head) == 1


def _scale_note(context: TaskContext) -> str:
    return f"{_scale_factor(context, context.head)} × the height and width of the input"


# Pixels


def _reads_one_image(context: TaskContext) -> bool:
    """Whether there is one image. Maps of a gray one are masks only if features are joined on the way up."""
    if len(context.inputs_of("image")) != 1:
        return False
    is_ambiguous = context.is_gray_image and context.heads_of("text-map", "map")
    return not is_ambiguous or any(op.residual_kind == "concat" for op in context.net)


def _are_masks(context: TaskContext) -> bool:
    """Whether class maps are masks. Coarse maps of several widths are a score and a box per cell."""
    has_one_width = len({head.classes for head in context.selected}) == 1
    return has_one_width or any(_scale_factor(context, head) == 1 for head in context.selected)


def _are_keypoint_maps(context: TaskContext) -> bool:
    is_plain = context.head.classes in _PERSON_KEYPOINTS and context.head.activation is None
    return is_plain and not _keeps_size(context)


def _is_restored(context: TaskContext) -> bool:
    """Whether the image is downsampled and a map of its size computed from that."""
    is_reduced = _has_strides(context) or context.has_block(*block_kinds.SPATIAL_POOLS)
    return is_reduced and _keeps_size(context)


def _are_all_results(context: TaskContext) -> bool:
    return len(context.selected) == len(context.results)


def _segmentation_rule(score: float, *when: Condition) -> TaskRule:
    name, also = "semantic segmentation", ("pose estimation",)
    conditions = (_are_masks, *when)
    return TaskRule(name, score, ("segmentation",), (), conditions, (), also, has_classes=True, prefer=is_activated)


VISION_TASKS: Final = (
    TaskRule("diffusion step", 0.92, when=(_is_denoising,), notes=(_timestep_note, _denoised_note)),
    TaskRule(
        "instance segmentation",
        0.9,
        _BOX_LISTS,
        when=(lambda context: bool(context.heads_of("prototypes")),),
        notes=(lambda context: context.heads_of("prototypes")[0].evidence,),
        has_classes=True,
    ),
    _box_rule("detection", "object detection", 0.9),
    _box_rule("pose", "pose estimation", 0.75),
    _box_rule("oriented", "oriented object detection", 0.6),
    TaskRule("object detection", 0.6, ("raw-detection",), when=(reads("image"),), quoted=2),
    TaskRule(
        "object detection",
        0.92,
        ("boxes", "scores"),
        when=(_has_boxes_and_scores,),
        has_classes=True,
        prefer=lambda head: head.kind == "boxes",
    ),
    *rules_for(
        ("image", "map"),
        (_is_image,),
        TaskRule("latent decoding", 0.85, cites=("latent",), when=(_has_spatial_latent,)),
        TaskRule("image generation", 0.7, cites=("latent",)),
        TaskRule("super resolution", 0.85, when=(_is_enlarged,), notes=(_scale_note,)),
        TaskRule(
            "image-to-image",
            0.7,
            when=(_keeps_size,),
            notes=("same height and width as the input",),
            also=("depth estimation",),
        ),
    ),
    *rules_for(
        (),
        (_reads_one_image,),
        TaskRule("text detection", 0.6, ("text-map",), also=("semantic segmentation",)),
        TaskRule(
            "pose estimation",
            0.6,
            ("segmentation",),
            when=(_are_masks, _are_keypoint_maps),
            notes=(lambda context: f"{context.head.classes} maps: keypoints of a person",),
            also=("semantic segmentation",),
            prefer=is_activated,
        ),
        _segmentation_rule(0.9, has_activation("argmax", "softmax")),
        _segmentation_rule(0.75, _is_restored),
        _segmentation_rule(0.6),
        TaskRule(
            "semantic segmentation",
            0.55,
            ("map",),
            when=(_are_all_results, has_activation("sigmoid")),
            notes=(lambda context: f"{context.head.evidence}, each a probability",),
            also=("depth estimation",),
            quoted=0,
        ),
        TaskRule(
            "depth estimation",
            0.5,
            ("map",),
            when=(_are_all_results, lambda context: context.family in ("vision-transformer", "hybrid")),
            also=("semantic segmentation",),
        ),
    ),
)
