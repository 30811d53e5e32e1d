"""Where a version of a resource came from, as the store tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from infospace.core.resources import NOBODY, CreatedBy
from infospace.journal.rows import Use

Since = Literal["content", "metadata", "members", "deleted"]
"""What became of a version: another content, metadata or membership came after it, or the resource was deleted."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a search result refers to: the source at the version that was found, and its score."""

    of: Use
    score: float | None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """A version of a resource, where it came from, and how the resource stands now.

    `there` is false of a version that was removed for good, or never was: then only `of` says something. `latest`
    is the resource's version now, `latest_made` who made that, or who deleted the resource; `gone` says the latter
    in words, to go on a sentence. `since` is what changed after this version, None while it is as the resource is
    now. `carried` is the latest earlier version whose content (members, ends) this one took over unchanged. `file`
    is where an imported version was read.
    """

    of: Use
    there: bool = True
    created_by: CreatedBy = NOBODY
    at: str = ""
    latest: int = 0
    latest_made: CreatedBy = NOBODY
    name: str | None = None
    title: str | None = None
    kept: bool = False
    gone: str | None = None
    since: Since | None = None
    carried: int | None = None
    evidence: bool = False
    source: Source | None = None
    file: str | None = None
    ends: tuple[str, str, str] | None = None
    """Of a Relation: the id of its source, its label, and the id of its target."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A step that read a version of a resource: its run, and its place in it by `sequence`."""

    of: Use
    run: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Product:
    """A version of a resource, and the run and step that made it."""

    of: Use
    created_by: CreatedBy
