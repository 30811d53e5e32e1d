"""Where each Note goes when all are written out as files."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from infospace.core.resources import Note
from infospace.files.formats.json import SIDE
from infospace.files.walk import SUFFIXES
from infospace.store.protocol import TrackedFile

MAX_FILE_NAME_BYTES = 120
"""Bytes of a file name without its suffix; systems allow 255."""

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
"""Names that Windows keeps for itself."""


def bare_paths(notes: Iterable[Note], files: Mapping[str, TrackedFile]) -> dict[str, str]:
    """Return by id the path of each Note without suffix: the path it was imported from, else its name or title.

    Notes of several roots lie in folders called like these.
    """
    roots = sorted({file.root for file in files.values()})
    folders: dict[str, str] = {}
    for root in roots:
        folders[root] = _free(_fit(PurePosixPath(root).name) or "root", folders.values())
    results = {}
    for note in notes:
        file = files.get(note.id)
        if file is None:
            title = note.name or note.metadata.get("title")
            results[note.id] = (_fit(title) if isinstance(title, str) else "") or note.id
        else:
            path = "/".join((*((folders[file.root],) if len(roots) > 1 else ()), _visible(file.path)))
            results[note.id] = f"{path}/{file.part}" if file.part else _without_suffix(path)
    return results


def _free(name: str, taken: Iterable[str]) -> str:
    folded = {one.casefold() for one in taken}
    return next(one for one in _numbered(name) if one.casefold() not in folded)


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1


def _fit(text: str) -> str:
    """Make a name that every system allows, shows, and keeps."""
    text = unicodedata.normalize("NFC", text)
    text = "".join(" " if unicodedata.category(one) in ("Cc", "Cs", "Cn", "Zl", "Zp") else one for one in text)
    text = " ".join(re.sub(r'[/\\:*?"<>|]', "-", text).split()).lstrip(".")
    text = text.encode()[:MAX_FILE_NAME_BYTES].decode(errors="ignore").rstrip(". ")
    return f"{text}_" if _RESERVED.fullmatch(text) else text


def _visible(path: str) -> str:
    return "/".join(f"_{part}" if part.startswith(".") else part for part in path.split("/"))


def _without_suffix(path: str) -> str:
    suffix = PurePosixPath(path).suffix
    return path.removesuffix(suffix) if suffix.lower() in SUFFIXES else path


class UsedPaths:
    """The paths that are given out, compared as systems do that know no upper and lower case."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def reserve(self, bare: str, suffix: str) -> str:
        """Return a free path, this one if it can be."""
        if any(str(folder).casefold() in self._files for folder in PurePosixPath(bare).parents):
            bare = bare.replace("/", "-")
        path = next(path for path in _numbered(bare) if not _keys(path, suffix) & (self._files | self._folders))
        self._files |= _keys(path, suffix)
        self._folders |= {str(folder).casefold() for folder in PurePosixPath(path).parents}
        return path


def _keys(path: str, suffix: str) -> set[str]:
    """The names that a file takes; JSON takes that of its metadata too."""
    return {f"{path}{one}".casefold() for one in ((suffix, SIDE) if suffix == ".json" else (suffix,))}
