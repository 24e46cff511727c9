"""Metadata vocabulary of the Hugging Face Hub: tags of tasks, precisions and families, names of licenses.

A tag is listed only if a value of the card implies it with certainty; other values are listed as untagged. Sources:
the Hub's tables of tasks (`@huggingface/tasks`, 0.21) and its page of licenses.
"""

import re
from typing import Final

# All task tags of the Hub. `text2text-generation` was one and has been removed.
_PIPELINE_TAGS: Final = """
    text-classification token-classification table-question-answering question-answering zero-shot-classification
    translation summarization feature-extraction text-generation fill-mask sentence-similarity text-to-speech
    text-to-audio automatic-speech-recognition audio-to-audio audio-classification audio-text-to-text
    voice-activity-detection depth-estimation image-classification object-detection image-segmentation text-to-image
    image-to-text image-to-image image-to-video unconditional-image-generation video-classification
    reinforcement-learning robotics tabular-classification tabular-regression tabular-to-text table-to-text
    multiple-choice text-ranking text-retrieval time-series-forecasting text-to-video image-text-to-text
    image-text-to-image image-text-to-video visual-question-answering document-question-answering
    zero-shot-image-classification graph-ml mask-generation zero-shot-object-detection text-to-3d image-to-3d
    image-feature-extraction video-text-to-text keypoint-detection visual-document-retrieval any-to-any
    video-to-video other
"""
PIPELINE_TAGS: Final = frozenset(_PIPELINE_TAGS.split())

TASKS: Final = {
    "question answering": "question-answering",
    "text generation": "text-generation",
    "fill mask": "fill-mask",
    "text classification": "text-classification",
    "token classification": "token-classification",
    "sentence embedding": "feature-extraction",  # the file does not state the use of the vectors
    "speech recognition": "automatic-speech-recognition",
    "text to speech": "text-to-speech",
    "voice activity detection": "voice-activity-detection",
    "audio classification": "audio-classification",
    "image classification": "image-classification",
    "video classification": "video-classification",
    "object detection": "object-detection",
    "oriented object detection": "object-detection",
    "pose estimation": "keypoint-detection",
    "instance segmentation": "image-segmentation",
    "semantic segmentation": "image-segmentation",
    "depth estimation": "depth-estimation",
    "image-to-image": "image-to-image",
    "super resolution": "image-to-image",
    "image-to-text": "image-to-text",
    "text recognition": "image-to-text",
    "image embedding": "image-feature-extraction",
    "tabular classification": "tabular-classification",
    "tabular regression": "tabular-regression",
}
# Tags of feature extraction by the role of the input.
FEATURE_TASKS: Final = {"tokens": "feature-extraction", "image": "image-feature-extraction"}
UNTAGGED_TASKS: Final = frozenset(
    (
        "text-to-text generation",  # translation or summarization: the graph is the same
        "image-text matching",  # classification or retrieval
        "text scoring",  # ranking or regression
        "diffusion step",  # parts of a pipeline
        "latent decoding",
        "image generation",  # from noise, a class or an image
        "text detection",
        "audio embedding",
    )
)

PRECISIONS: Final = {
    **{label: label for label in ("fp64", "fp32", "fp16", "bf16", "fp8")},
    **dict.fromkeys(("int8-dynamic", "int8-qoperator", "int8-qdq", "int8-weights"), "int8"),
    **{f"{bits}-weights": bits for bits in ("int4", "int2", "fp4", "nf4")},
    "fp8-qdq": "fp8",
}

FAMILIES: Final = frozenset(
    (
        *("cnn", "rnn", "mlp", "transformer-encoder", "transformer-decoder", "encoder-decoder", "vision-transformer"),
        *("diffusion-unet", "tree-ensemble"),
    )
)
UNTAGGED_FAMILIES: Final = frozenset(("hybrid", "preprocessing", "unknown"))

# The Hub's licenses that are SPDX ids, as SPDX writes them. GNU ids without "only" or "or-later" are deprecated, but
# they are all that a file declares that states no more.
_SPDX_NAMES: Final = """
    AFL-3.0 AGPL-3.0 Apache-2.0 Artistic-2.0 BSD-2-Clause BSD-3-Clause BSD-3-Clause-Clear BSL-1.0 CC-BY-2.0 CC-BY-2.5
    CC-BY-3.0 CC-BY-4.0 CC-BY-NC-2.0 CC-BY-NC-3.0 CC-BY-NC-4.0 CC-BY-NC-ND-3.0 CC-BY-NC-ND-4.0 CC-BY-NC-SA-2.0
    CC-BY-NC-SA-3.0 CC-BY-NC-SA-4.0 CC-BY-ND-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0 CC0-1.0 CDLA-Permissive-1.0
    CDLA-Permissive-2.0 CDLA-Sharing-1.0 ECL-2.0 EPL-1.0 EPL-2.0 etalab-2.0 EUPL-1.1 GPL-2.0 GPL-3.0 ISC LGPL-2.1
    LGPL-3.0 LPPL-1.3c MIT MPL-2.0 MS-PL NCSA OFL-1.1 OSL-3.0 PostgreSQL Unlicense WTFPL Zlib
"""
SPDX_IDS: Final = {name.lower(): name for name in _SPDX_NAMES.split()}
_OTHER_LICENSES: Final = """
    openrail bigscience-openrail-m creativeml-openrail-m bigscience-bloom-rail-1.0 bigcode-openrail-m bsd c-uda cc
    gfdl gpl lgpl odc-by odbl openrail++ pddl lgpl-lr llama2 llama3 llama3.1 llama3.2 llama3.3 gemma
"""
_LICENSES: Final = frozenset((*SPDX_IDS, *_OTHER_LICENSES.split()))
GNU_LICENSES: Final = ("agpl-3.0", "gpl-2.0", "gpl-3.0", "lgpl-2.1", "lgpl-3.0")
# Other forms, as normalized by `license_id`.
_LICENSE_ALIASES: Final = {
    **{f"{name}-{which}": name for name in GNU_LICENSES for which in ("only", "or-later")},
    **{name.removesuffix(".0"): name for name in ("apache-2.0", "mpl-2.0", *GNU_LICENSES)},
    **{name.removesuffix(".0").replace("-", "v"): name for name in GNU_LICENSES},
    "apache-software-2.0": "apache-2.0",
    "gnu-affero-general-public-3.0": "agpl-3.0",
    "gnu-agpl-3.0": "agpl-3.0",
    "gnu-general-public-3.0": "gpl-3.0",
    "gnu-general-public-2.0": "gpl-2.0",
    "gnu-gpl-3.0": "gpl-3.0",
    "gnu-gpl-2.0": "gpl-2.0",
    "gnu-lesser-general-public-3.0": "lgpl-3.0",
    "gnu-lesser-general-public-2.1": "lgpl-2.1",
    "mozilla-public-2.0": "mpl-2.0",
    "mit-mit": "mit",
    "new-bsd": "bsd-3-clause",
    "bsd-3-clause-new-or-revised": "bsd-3-clause",
    "bsd-2-clause-simplified": "bsd-2-clause",
    "creative-commons-attribution-4.0": "cc-by-4.0",
    "creative-commons-attribution-4.0-international": "cc-by-4.0",
    "cc0": "cc0-1.0",
    "cc0-1.0-universal": "cc0-1.0",
}
_URL: Final = re.compile(r"\(?\s*https?://[^\s()]*\s*\)?", re.I)
_WORD: Final = re.compile(r"[a-z0-9.+]+")
_FILLERS: Final = frozenset(("the", "license", "licence", "licensed", "under", "version"))
_NAME: Final = re.compile(r"""[A-Za-z0-9 ,.+()"'-]{,100}""")  # anything else is the text of a license


def license_id(text: str) -> str | None:
    """Return the Hub's id of a declared license; None where the text is more than a name or the name is unknown."""
    name = _URL.sub(" ", text)
    if not _NAME.fullmatch(name):
        return None
    # "AGPL-3.0 License" and "Apache License, Version 2.0" are reduced to the words that distinguish licenses.
    words = [word for word in _WORD.findall(name.lower()) if word not in _FILLERS]
    words = [re.sub(r"^v\.?(?=\d)", "", word).strip(".") for word in words]
    reduced = "-".join(filter(None, words))
    return reduced if reduced in _LICENSES else _LICENSE_ALIASES.get(reduced)
