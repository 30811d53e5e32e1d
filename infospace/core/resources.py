"""The three kinds of thing that exist, as values: what was read stays as it was read.

A resource is changed by asking the `Context` (`infospace/context`); the change makes a new version in the store,
never a new state of an object already in somebody's hands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeGuard

from typing_extensions import TypedDict, TypeVar

from infospace.core.ids import Kind
from infospace.core.json_types import JSON

ContentT = TypeVar("ContentT", default=JSON, covariant=True)
ItemT = TypeVar("ItemT", default="Resource", covariant=True)


@dataclass(frozen=True, slots=True)
class CreatedBy:
    """Where a version came from: the run, the step's position in it, and the type that made it."""

    run: str | None = None
    step: str | None = None
    by: str | None = None


NOBODY = CreatedBy()
"""Made outside of any run."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where the file of an imported Note lies: the absolute folder that was imported, and the path under it.

    `part` is 0 of a whole file, and tells the rows of a table apart.
    """

    root: str
    path: str
    part: int = 0
    created: str | None = field(default=None, compare=False)
    modified: str | None = field(default=None, compare=False)
    """The file's own times, where they are known."""

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The folder of the file, under the root; empty in the root itself."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What every resource has, whatever its kind. Times are ISO 8601 in UTC, to the millisecond.

    `location` is the file of an imported Note, or of the one that a search result is of; None of anything else.
    """

    id: str
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    name: str | None = None
    version: int = 1
    created: str = ""
    updated: str = ""
    kept: bool = False
    created_by: CreatedBy = NOBODY
    location: Location | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Header, Generic[ContentT]):
    """A piece of JSON content (text is a JSON string) with metadata and versions."""

    content: ContentT
    evidence: bool = False
    """True of a search result: never indexed, and standing for its source in set operations."""

    @property
    def kind(self) -> Kind:
        """Always `Kind.NOTE`."""
        return Kind.NOTE


@dataclass(frozen=True, slots=True)
class Member:
    """A place in a Collection: the resource's id, and what the membership itself records."""

    id: str
    info: Mapping[str, JSON] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection(Header, Generic[ItemT]):
    """An ordered list of resources. It holds ids; the view gives the resources themselves."""

    members: Sequence[Member] = ()

    @property
    def kind(self) -> Kind:
        """Always `Kind.COLLECTION`."""
        return Kind.COLLECTION

    @property
    def content(self) -> JSON:
        """A Collection has no content of its own: as a value it is the list of its items' contents."""
        return None

    def __len__(self) -> int:
        return len(self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation(Header):
    """A labelled arrow from one resource to another; it goes when an end goes."""

    source: str
    target: str
    relation: str

    @property
    def kind(self) -> Kind:
        """Always `Kind.RELATION`."""
        return Kind.RELATION

    @property
    def content(self) -> JSON:
        """The arrow as JSON: `source`, `target`, `relation`."""
        return {"source": self.source, "target": self.target, "relation": self.relation}


Resource: TypeAlias = Note | Collection | Relation


class PassageOfResult(TypedDict):
    """The stretch of the source's text that scored best: 0-based characters, end excluded.

    `headings` are those of a Markdown text under which it stands, the outermost first.
    """

    start: int
    end: int
    text: str
    headings: list[str]


class ResultMetadata(TypedDict):
    """Where a search result came from, and how well it fits."""

    source_id: str
    uri: str | None
    score: float
    type: str
    title: str | None
    passage: PassageOfResult | None
    source: dict[str, Any]


class SearchResult(TypedDict):
    """The content of a search-result Note."""

    text: str
    format: str
    metadata: ResultMetadata
    char_count: int


class FilteredMetadata(TypedDict):
    """Where a result came from that a condition alone found: nothing was looked for, and so it has no score."""

    source_id: str
    uri: str | None
    score: None
    type: str
    title: str | None
    passage: None
    source: dict[str, Any]


class FilteredResult(TypedDict):
    """The content of a search-result Note that a condition alone found."""

    text: str
    format: str
    metadata: FilteredMetadata
    char_count: int


class FusedMetadata(ResultMetadata):
    """Of a result of search by meaning and words: both scores, and which of them brought it in."""

    cosine: float | None
    bm25: float
    matched_by: list[str]


class FusedResult(TypedDict):
    """The content of a search-result Note of search by meaning and words."""

    text: str
    format: str
    metadata: FusedMetadata
    char_count: int


class ExplainedMetadata(ResultMetadata):
    """The same with what the score is made of: cosines under `meaning`, words under `words`."""

    explanation: dict[str, Any]


class ExplainedResult(TypedDict):
    """The content of a search-result Note that says what its score is made of."""

    text: str
    format: str
    metadata: ExplainedMetadata
    char_count: int


class ExplainedFusedMetadata(FusedMetadata):
    """The same of a result of search by meaning and words."""

    explanation: dict[str, Any]


class ExplainedFusedResult(TypedDict):
    """The content of such a search-result Note of search by meaning and words."""

    text: str
    format: str
    metadata: ExplainedFusedMetadata
    char_count: int


class CollectionMetadata(TypedDict):
    """Which Collection was found, and how well it fits."""

    source_id: str
    uri: str | None
    score: float
    type: Literal["Collection"]
    title: str | None
    passage: None
    source: dict[str, Any]


class CollectionResult(TypedDict):
    """The content of a search-result Note whose source is a Collection."""

    text: str
    format: str
    metadata: CollectionMetadata
    char_count: int


class ToolMetadata(TypedDict):
    """Which tool was found, how well it fits, and what it takes and gives."""

    source_id: str
    tool: str
    server: str
    connected: bool
    score: float
    confidence: float
    """How probable it is that it does what was asked for, 0 to 1."""
    type: Literal["Tool"]
    step: str
    """The type of a step that calls it."""
    signs: list[str]
    """In what way its server's words instruct whoever reads them; usually none."""
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None


class ToolResult(TypedDict):
    """The content of a search-result Note that stands for a tool; `text` is its description."""

    text: str
    format: str
    metadata: ToolMetadata
    char_count: int


def is_resource(value: object) -> TypeGuard[Resource]:
    """Whether a value is a resource, as opposed to JSON."""
    return isinstance(value, (Note, Collection, Relation))


def text_of(content: JSON) -> str:
    """Return the text of content: a string is itself, other JSON its compact form in stored order."""
    if isinstance(content, str):
        return content
    from infospace.data.json_text import dump

    return dump(content)
