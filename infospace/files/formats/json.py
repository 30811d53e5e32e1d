"""JSON: any value is a Note. Its metadata may lie beside it: `a.metadata.json` is the metadata of `a.json`."""

from __future__ import annotations

import errno
from pathlib import Path

from infospace.core.errors import Invalid
from infospace.data.json_text import read_json
from infospace.files.formats import FileContent
from infospace.files.walk import MAX_BYTES, read_bytes

SIDE = ".metadata.json"
"""How the name of a file with the metadata of another ends."""


def side_of(path: Path) -> Path:
    """Return where the metadata of a JSON file would lie."""
    return path.with_name(path.name[: -len(path.suffix)] + SIDE)


def is_side(path: Path) -> bool:
    """Whether a file is the metadata of one that lies beside it, and so no Note of its own."""
    return path.name.endswith(SIDE) and path.with_name(path.name.removesuffix(SIDE) + ".json").is_file()


def may_have_side(path: Path) -> bool:
    """Whether the system allows the name that a file with the metadata of a JSON file would have."""
    try:
        side_of(path).lstat()
    except OSError as error:
        return error.errno != errno.ENAMETOOLONG
    return True


def beside(path: Path) -> bytes:
    """Return the bytes of the metadata beside a JSON file, empty where there is none."""
    side = side_of(path)
    return read_bytes(side) if may_have_side(path) and side.is_file() else b""


def read(data: bytes, name: str, metadata: bytes = b"") -> FileContent:
    """Read a JSON document; an empty file is an empty text. Raises Invalid with the place of what is wrong."""
    content = read_json(data, what=repr(name), max_bytes=MAX_BYTES) if data.strip() else ""
    if not metadata:
        return FileContent(content, {})
    known = read_json(metadata, what=f"the metadata of {name!r}", max_bytes=MAX_BYTES)
    if not isinstance(known, dict):
        raise Invalid(f"the metadata of {name!r} is not an object", hint='{"key": value, …}')
    return FileContent(content, known)
