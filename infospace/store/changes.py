"""What can be done to a space: one closed union. The store applies a list of them as one transaction.

Ids in changes were given by `Store.new_id` before; a change may name a resource that an earlier change
of the same list makes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from infospace.core.json_types import JSON
from infospace.core.resources import NOBODY, CreatedBy, Member
from infospace.store.tool_records import ToolChange

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Evidence:
    """The content of a search-result Note, by reference to its source's version; text is not copied.

    `score` is None where a condition alone found it.
    `start` and `end` are 0-based characters of the source's text, end excluded; None without a passage.
    `passage`: it is that passage which was found, so that another one of the same source is something else.
    """

    source: str
    version: int
    score: float | None
    start: int | None = None
    end: int | None = None
    extra: Mapping[str, JSON] = field(default_factory=dict)
    passage: bool = False


@dataclass(frozen=True, slots=True)
class MakeNote:
    """A new Note at version 1. `content` is JSON, or the evidence of a search.

    `evidence` marks a search result whose content is its own, such as a tool's: it is never indexed.
    """

    id: str
    content: JSON | Evidence
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    kept: bool = False
    created_by: CreatedBy = NOBODY
    evidence: bool = False
    at: str | None = None
    """When it was made, where it is stored later than that."""


@dataclass(frozen=True, slots=True)
class MakeNotes:
    """Many new Notes at version 1, transient and without metadata. Their numbers follow each other from `first` on."""

    first: int
    contents: Sequence[JSON]
    created_by: CreatedBy = NOBODY
    plain: bool = False
    """Whether all in them is known to be of the types that JSON is read as, and no other."""


@dataclass(frozen=True, slots=True)
class MakeCollection:
    """A new Collection at version 1, its members in order."""

    id: str
    members: Sequence[Member]
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    kept: bool = False
    created_by: CreatedBy = NOBODY


@dataclass(frozen=True, slots=True)
class MakeRelation:
    """A new Relation between two existing resources. A kept one keeps its ends."""

    id: str
    source: str
    target: str
    relation: str
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    kept: bool = False
    created_by: CreatedBy = NOBODY


@dataclass(frozen=True, slots=True)
class Expect:
    """Conflict unless a resource stands as it was read: version, name, whether it is kept, and whether it lives."""

    id: str
    version: int
    name: str | None
    kept: bool
    alive: bool


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep a resource; of a Collection its members too, and the Relations between them. Idempotent.

    With `alone` the resource is kept by itself.
    """

    id: str
    alone: bool = False


@dataclass(frozen=True, slots=True)
class GiveName:
    """Give a resource a name, and so keep it. A name that another has is a Conflict unless `replace`.

    With `replace` the earlier holder loses the name, and is let go unless something else holds it: a Collection or a
    Relation that is kept, or a file. With `alone` nothing that belongs to the resource is kept with it.
    """

    id: str
    name: str
    replace: bool = False
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Revise:
    """A new version of a Note (content, metadata), a Collection (metadata, members) or a Relation (metadata).

    None leaves a part as it is. Members of a kept Collection are kept.

    `if_version` other than the current version is a Conflict. Content that is JSON null is `JsonNull()`.
    """

    id: str
    content: JSON | JsonNull = None
    metadata: Mapping[str, JSON] | None = None
    if_version: int | None = None
    created_by: CreatedBy = NOBODY
    members: Sequence[Member] | None = None


@dataclass(frozen=True, slots=True)
class JsonNull:
    """JSON null as new content, told from "no new content"."""


@dataclass(frozen=True, slots=True)
class AddMembers:
    """A new version of a Collection with these members at its end. Of a kept one, they are kept."""

    id: str
    members: Sequence[Member]
    if_version: int | None = None
    created_by: CreatedBy = NOBODY


@dataclass(frozen=True, slots=True)
class RemoveMembers:
    """A new version of a Collection without the members of these ids; an id that is no member is ignored."""

    id: str
    members: Sequence[str]
    if_version: int | None = None
    created_by: CreatedBy = NOBODY


@dataclass(frozen=True, slots=True)
class Delete:
    """Leave a tombstone, free the name, take it out of discovery and out of the Collections that have it.

    Relations that end there go too, and the file that a Note was imported from is forgotten. A link whose Relation
    goes, and not with one of its ends, leads where it did by none. `if_version` other than the current version is a
    Conflict; with `unless_held`, so is a kept Relation or Collection that has it and stays.
    """

    id: str
    created_by: CreatedBy = NOBODY
    if_version: int | None = None
    unless_held: bool = False


@dataclass(frozen=True, slots=True)
class Restore:
    """Undo a deletion, and with `version` make a new version that is like that earlier one.

    The name stays free, members of Collections stay out, and files forgotten: other changes bring them back.
    `if_version` other than the current version, or than that at which it was deleted, is a Conflict.
    """

    id: str
    version: int | None = None
    created_by: CreatedBy = NOBODY
    if_version: int | None = None


@dataclass(frozen=True, slots=True)
class FreeName:
    """Take a resource's name away, whatever it is."""

    id: str


@dataclass(frozen=True, slots=True)
class Unkeep:
    """Make a kept resource transient again. Something kept that holds it and stays kept is a Conflict.

    With `if_free` what has a name, and what something else holds, stays kept instead.
    """

    id: str
    if_free: bool = False


@dataclass(frozen=True, slots=True)
class ExpectedFile:
    """What a place was when it was read: the Note there, at the version that its file gave it; or nothing."""

    note: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Track:
    """Remember the file that a Note was imported from. `root` is absolute, `path` posix and below it.

    `part` is 0 for a whole file, else the number of a row in it; `title` is what links may call it by, and so are
    its `aliases`. `created` and `modified` are its times, `lines` how many stand before its text, `reader` the version
    of the importer that read it.
    A place that is not as it `was` is a Conflict; and so, where it was nothing, is the same file below another root.
    """

    root: str
    path: str
    note: str
    digest: bytes
    version: int
    part: int = 0
    title: str | None = None
    was: ExpectedFile | None = None
    created: str | None = None
    modified: str | None = None
    aliases: tuple[str, ...] = ()
    lines: int = 0
    reader: int = 0


@dataclass(frozen=True, slots=True)
class Untrack:
    """Forget a file, or a row of one. A place that is not as it `was` is a Conflict."""

    root: str
    path: str
    part: int = 0
    was: ExpectedFile | None = None


@dataclass(frozen=True, slots=True)
class Linked:
    """A link in a file: its target as written, and where it leads: to a Note, by a Relation; or nowhere.

    One to a Note that has no file any more leads nowhere, and there again when the Note has its file again: what it
    `lost` is that Note and the Relation. One that leads somewhere by no Relation lost that by somebody's hand.
    `label` is what the text says of the link, and so what its Relation says: links to one target with two labels are
    two.
    """

    target: str
    wiki: bool
    to: str | None = None
    relation: str | None = None
    lost: tuple[str, str | None] | None = field(default=None, compare=False)
    label: str = "links-to"


@dataclass(frozen=True, slots=True)
class ExpectLinks:
    """Conflict unless a Note has these links, as they were read: what they lead to included.

    It stands before changes that bring and take files, since those change what links lead to.
    """

    note: str
    links: Sequence[Linked]


SETTLED_BY = "link"
"""By whom the Relations of links are that the store settles itself: they belong to no run, and keep nothing."""


@dataclass(frozen=True, slots=True)
class SetLinks:
    """The links of an imported Note: these and no others. Relations are made and deleted apart from this."""

    note: str
    links: Sequence[Linked]


@dataclass(frozen=True, slots=True)
class SettleLinks:
    """The links of a Note that lead to no file lead to Notes without one, from now on: the store keeps them so."""

    note: str


@dataclass(frozen=True, slots=True)
class PassageSpan:
    """One embedded stretch of a Note's text: 0-based characters, end excluded, and the text's digest."""

    start: int
    end: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Embed:
    """The passages of a Note at a version, all of them, in order; done only if that is still its version."""

    id: str
    version: int
    stretches: Sequence[PassageSpan]


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Vectors by digest of their text, float32 of shape (n, dimension), for one model and policy."""

    model: str
    digests: Sequence[bytes]
    rows: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Describe:
    """The digests of the passages of what a Collection is embedded as, whose own SHA-256 is `text`.

    Done only if that is still its text.
    """

    id: str
    model: str
    text: bytes
    digests: Sequence[bytes]


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """The vector of a query's text, float32 of shape (dimension,), kept for the next time."""

    model: str
    digest: bytes
    row: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Derived:
    """A file was made from the space and lies beside it: `token` tells it from earlier ones of its name.

    A space that was put back to an earlier state does not know the files made since.
    """

    name: str
    token: str


Change: TypeAlias = (
    MakeNote
    | MakeNotes
    | MakeCollection
    | MakeRelation
    | Expect
    | Keep
    | GiveName
    | Revise
    | AddMembers
    | RemoveMembers
    | Delete
    | Restore
    | FreeName
    | Unkeep
    | Track
    | Untrack
    | ExpectLinks
    | SetLinks
    | SettleLinks
    | Embed
    | Vectors
    | Describe
    | Query
    | Derived
    | ToolChange
)
