"""Files to import: which there are under a path, and what each of them holds."""

from __future__ import annotations

import codecs
import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from infospace.errors import Invalid, NotFound
from infospace.jsonvalue import JSON
from infospace.memory.markdown import Link, parse

MARKDOWN = frozenset({".md", ".markdown"})
"""Suffixes of files whose front matter, tags and links are read."""

SUFFIXES = MARKDOWN | {".txt", ".text"}
"""Suffixes, in lower case, of the files that are taken from a folder."""

MAX_BYTES = 200 * 10**6
"""The largest file that is read."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file to import: known by its root, an absolute folder, and its path under it, with `/` and in NFC."""

    root: Path
    relative: str
    path: Path


@dataclass(frozen=True, slots=True)
class Refused:
    """A file or folder that is left out, and in `reason` why: the end of a sentence about it."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class NoteFile:
    """What a file holds for a note; `hash` is the SHA-256 of its bytes, in hexadecimal."""

    text: str
    metadata: dict[str, JSON]
    links: tuple[Link, ...]
    hash: str


def walk(path: Path) -> Iterator[Found | Refused]:
    """List what there is to import at `path`, in the order of names, folders where their names stand.

    The root is a folder itself, or the folder of a file, without symbolic links. From a folder come files
    with one of `SUFFIXES`; hidden and git-ignored ones are left out, and so are symbolic links to what lies
    in the root, since that is found at its own place. Links that lead out of it, or nowhere, are refused.
    Raises `NotFound` when there is nothing at `path`.
    """
    try:
        real = Path(os.path.realpath(path, strict=True))
    except OSError as error:
        raise NotFound(f"{str(path)!r} cannot be found: {error.strerror}") from None
    if real.is_dir():
        return _Folder(real).walk()
    if reason := _unfit(real.name, real.lstat().st_mode):
        return iter([Refused(real, reason)])
    return iter([Found(real.parent, unicodedata.normalize("NFC", real.name), real)])


def read_text(path: Path) -> str:
    """Read a text file: UTF-8, or UTF-16 with a byte order mark. Line ends stay as they are.

    Raises `NotFound` when it is not there, and `Invalid` when it is too large, binary, or other text.
    """
    return _decoded(_bytes(path), path.name)


def read_note(found: Found) -> NoteFile:
    """Read a file for a note, with line feeds for line ends; Markdown is taken apart.

    Raises what `read_text` does, and `Invalid` for a front matter that cannot be read.
    """
    data = _bytes(found.path)
    text, digest = _decoded(data, found.path.name), sha256(data).hexdigest()
    if found.path.suffix.lower() in MARKDOWN:
        parsed = parse(text)
        return NoteFile(parsed.text, parsed.metadata, parsed.links, digest)
    return NoteFile(text.replace("\r\n", "\n").replace("\r", "\n"), {}, (), digest)


def _bytes(path: Path) -> bytes:
    try:
        if reason := _unfit(path.name, path.stat().st_mode):
            raise Invalid(f"{path.name!r} {reason}")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise NotFound(f"{str(path)!r} is not there any more") from None
    except OSError as error:
        raise Invalid(f"{path.name!r} cannot be read: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise Invalid(
            f"{path.name!r} is larger than {MAX_BYTES // 10**6} MB", hint="divide it into several files"
        )
    return data


def _decoded(data: bytes, name: str) -> str:
    encoding = "UTF-8"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "UTF-16"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{data[error.start]:02x} at position {error.start}"
        text, binary = "", b"\0" in data and encoding == "UTF-8"
        if not binary:
            raise Invalid(f"{name!r} is not {encoding} text: {wrong}", hint="save it as UTF-8") from None
    position = data.find(b"\0") if encoding == "UTF-8" else text.find("\0")
    if position >= 0:
        raise Invalid(f"{name!r} is binary: it has a NUL at position {position}", hint="only text is read")
    return text.removeprefix("\ufeff")


def _unfit(name: str, mode: int) -> str | None:
    try:
        name.encode()
    except UnicodeEncodeError:
        return "has a name that is not UTF-8"
    return None if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else "is not a regular file"
