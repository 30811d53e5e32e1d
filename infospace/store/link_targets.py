"""What a link leads to, by the places that it may mean.

A link in a file leads to a file under the same root; where that has none that fits, to one under the roots around it
and in it; else to a Note without a file. A link in a Note without a file leads to a file under any root, else to
another such Note.

`[text](path)` by its path, from the folder of its file or from the root, with or without suffix. `[[name]]` by path
too; else by the end of a path without suffix, which a file's stem is; else by title; else by alias. A Note without a
file has its name in the place of a path. Upper and lower case are no matter. Of several that fit, the one written in
the same case; then the one in the same folder; then the one nearest to the root; then the first in order of paths;
then the oldest.

A file whose rows are Notes is called by its whole name, and a link to it leads to the first row that it has.

What a link leads to depends on what there is, not on the order in which it came.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from infospace.store.changes import Linked

LONGEST_NAME = 300
"""Characters of the longest name by which a link can call a Note."""

_CONTROL = dict.fromkeys(range(32))


class LinkPlace(NamedTuple):
    """What a link may call a Note: where its file is, its title, its aliases. The root of a Note without one is ''."""

    root: str
    path: str
    part: int
    note: str
    title: str | None = None
    aliases: tuple[str, ...] = ()


def link_name(text: str) -> str:
    """Return what the target of a link and the names of all Notes that it may lead to have in common."""
    plain = unicodedata.normalize("NFC", text.translate(_CONTROL))
    return posixpath.basename(plain.strip("/")).casefold()


def names_of(place: LinkPlace) -> set[str]:
    """Return the names by which links can call a Note, each as `link_name` writes it."""
    path = link_name(place.path)
    names = {path, *(link_name(one) for one in (place.title, *place.aliases) if one)}
    if place.root and not place.part:
        names.add(posixpath.splitext(path)[0])
    return {name for name in names if 0 < len(name) <= LONGEST_NAME}


class LinkTargets:
    """Where links lead, by the places given: all, or all that have the names of these links and the links' own."""

    def __init__(self, places: Iterable[LinkPlace]) -> None:
        self._home: dict[str, LinkPlace] = {}
        self._whole: dict[str, tuple[str, _Places]] = {}
        files: dict[str, list[LinkPlace]] = {}
        rows: set[tuple[str, str]] = set()
        for place in sorted(places, key=lambda one: one.part):
            if not place.part:
                self._home[place.note] = place
            elif (place.root, place.path) in rows:
                continue
            else:
                rows.add((place.root, place.path))
            files.setdefault(place.root, []).append(place)
        self._without_file = _Places(files.pop("", ()))
        self._files = files
        self._places = {root: _Places(of_root) for root, of_root in files.items()}
        for top, roots in families(files):
            if len(roots) > 1:
                below = {root: root[len(top) :].strip("/") for root in roots}
                whole = _Places(
                    file._replace(path=posixpath.join(below[root], file.path)) for root in roots for file in files[root]
                )
                self._whole |= {root: (below[root], whole) for root in roots}

    def __contains__(self, note: str) -> bool:
        return note in self._home

    def leads(self, note: str, link: Linked) -> str | None:
        """Return the Note that a link leads to, which may be the one it is in; None when there is none."""
        home = self._home.get(note)
        if home is None:
            return None
        result = self._file(home, link) if home.root else self._every_file.find(link.target, link.wiki, "")
        return self._without_file.find(link.target, link.wiki, "") if result is None else result

    def _file(self, home: LinkPlace, link: Linked) -> str | None:
        folder = posixpath.dirname(home.path)
        result = self._places[home.root].find(link.target, link.wiki, folder)
        if result is None and home.root in self._whole:
            below, whole = self._whole[home.root]
            result = whole.find(link.target, link.wiki, posixpath.join(below, folder))
        return result

    @cached_property
    def _every_file(self) -> _Places:
        return _Places(file for root in sorted(self._files) for file in self._files[root])


@dataclass(frozen=True, slots=True)
class _Place:
    path: str
    bare: str
    note: str


class _Places:
    """Places under one root, by all that a link may call them."""

    def __init__(self, places: Iterable[LinkPlace]) -> None:
        self._paths: dict[str, list[_Place]] = {}
        self._stems: dict[str, list[_Place]] = {}
        self._titles: dict[str, list[tuple[str, _Place]]] = {}
        self._aliases: dict[str, list[tuple[str, _Place]]] = {}
        for one in places:
            bare = one.path if one.part or not one.root else posixpath.splitext(one.path)[0]
            place = _Place(one.path, bare, one.note)
            if one.path:
                for path in {one.path.casefold(), bare.casefold()}:
                    self._paths.setdefault(path, []).append(place)
                self._stems.setdefault(posixpath.basename(bare).casefold(), []).append(place)
            for names, texts in ((self._titles, (one.title,)), (self._aliases, one.aliases)):
                for name in filter(None, texts):
                    written_so = unicodedata.normalize("NFC", name)
                    names.setdefault(written_so.casefold(), []).append((written_so, place))

    def find(self, target: str, wiki: bool, folder: str) -> str | None:
        for path in _paths(target, folder):
            fits = self._paths.get(path.casefold(), ())
            if len(fits) == 1:
                return fits[0].note
            if fits:
                return min(fits, key=lambda place: _rank(place, path in (place.path, place.bare), folder)).note
        return self._named(target, folder) if wiki else None

    def _named(self, target: str, folder: str) -> str | None:
        end = "/" + target.strip("/").casefold()
        stems = self._stems.get(posixpath.basename(end), [])
        stems = stems or self._stems.get(posixpath.splitext(posixpath.basename(end))[0], [])
        fits = [
            (place.bare.endswith(target), place)
            for place in stems
            if f"/{place.bare}".casefold().endswith(end) or f"/{place.path}".casefold().endswith(end)
        ]
        for names in (self._titles, self._aliases):
            fits = fits or [(name == target, place) for name, place in names.get(target.casefold(), ())]
        if len(fits) == 1:
            return fits[0][1].note
        return min(fits, key=lambda fit: _rank(fit[1], fit[0], folder))[1].note if fits else None


def _paths(target: str, folder: str) -> tuple[str, ...]:
    """Return the paths that a target may be: from a folder, and from the root."""
    if "/" in target or target in ("", ".", ".."):
        return posixpath.normpath(posixpath.join(folder, target)), posixpath.normpath(target)
    return (f"{folder}/{target}", target) if folder else (target,)


def _rank(place: _Place, same_case: bool, folder: str) -> tuple[bool, bool, int, str, int, str]:
    in_another = posixpath.dirname(place.path) != folder
    return not same_case, in_another, place.path.count("/"), place.path, len(place.note), place.note


def whole_path(root: str, path: str) -> str:
    """Return the path of what lies under a root."""
    return f"{root.rstrip('/')}/{path}"


def is_inside(path: str, root: str) -> bool:
    """Whether a path is a root, or lies in it."""
    return path == root or path.startswith(whole_path(root, ""))


def families(roots: Iterable[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Give the outermost roots, each with all that lie in it, itself first."""
    groups: dict[str, list[str]] = {}
    for root in sorted(set(roots), key=lambda one: (len(one), one)):
        top = next((group for group in groups if is_inside(root, group)), root)
        groups.setdefault(top, []).append(root)
    yield from groups.items()
