"""The parts of a CycloneDX document that we write, as the specification names them. What is empty is left out.

Source: the JSON Schema of version 1.6 (CycloneDX/specification, schema/bom-1.6.schema.json), which more tools read than
1.7; the same document under `"specVersion": "1.7"` is valid too.
"""

from typing import Final

from msgspec import Struct, field

SPEC_VERSION: Final = "1.6"
SCHEMA: Final = f"http://cyclonedx.org/schema/bom-{SPEC_VERSION}.schema.json"


class Part(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Whatever is None or has no members does not appear."""


class Hash(Part, frozen=True):
    alg: str
    content: str


class Property(Part, frozen=True):
    name: str
    value: str


class License(Part, frozen=True):
    """Either an `id` of the SPDX list, or a `name`. The type of acknowledgement: the maker of the file says so."""

    acknowledgement: str
    id: str | None = None
    name: str | None = None


class LicenseChoice(Part, frozen=True):
    license: License


class InputOutput(Part, frozen=True):
    format: str


class ModelParameters(Part, frozen=True):
    task: str | None = None
    architecture_family: str | None = None
    model_architecture: str | None = None
    inputs: tuple[InputOutput, ...] = ()
    outputs: tuple[InputOutput, ...] = ()


class ModelCard(Part, frozen=True):
    model_parameters: ModelParameters
    properties: tuple[Property, ...] = ()


class Component(Part, frozen=True):
    type: str
    name: str
    ref: str | None = field(default=None, name="bom-ref")
    version: str | None = None
    description: str | None = None
    hashes: tuple[Hash, ...] = ()
    licenses: tuple[LicenseChoice, ...] = ()
    components: tuple["Component", ...] = ()
    model_card: ModelCard | None = None
    properties: tuple[Property, ...] = ()


class Tools(Part, frozen=True):
    components: tuple[Component, ...]


class Metadata(Part, frozen=True):
    timestamp: str
    tools: Tools
    component: Component


class Dependency(Part, frozen=True):
    ref: str
    depends_on: tuple[str, ...] = ()


class Composition(Part, frozen=True):
    aggregate: str
    dependencies: tuple[str, ...]


class Annotator(Part, frozen=True):
    component: Component


class Annotation(Part, frozen=True):
    subjects: tuple[str, ...]
    annotator: Annotator
    timestamp: str
    text: str


class Bom(Part, frozen=True, kw_only=True):
    schema: str = field(name="$schema")
    bom_format: str
    spec_version: str
    serial_number: str | None = None
    version: int
    metadata: Metadata
    dependencies: tuple[Dependency, ...]
    compositions: tuple[Composition, ...]
    annotations: tuple[Annotation, ...] = ()
