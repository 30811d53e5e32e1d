"""Writing a file so that it is there whole, or as it was."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from infospace.core.errors import Invalid

_BESIDE = re.compile(r"\.(.+)\.[0-9a-f]{12}", re.DOTALL)
_NAME_BYTES = 100
"""How much of a file's name is in that of the file beside it; systems allow 255 bytes for the whole."""
_HINTS = {
    errno.EACCES: "look at its rights",
    errno.EPERM: "look at its rights",
    errno.ENOENT: "make its folder first",
    errno.ENAMETOOLONG: "choose a shorter name",
}


def write_atomically(path: Path, data: bytes) -> None:
    """Put bytes at a path by way of a file beside it, with the rights of the file that was there.

    A file that replaces another is flushed to the disk first: after a power cut the old or the new one is there whole.
    New files are not flushed: they take nothing away, and thousands of them may be written at once.

    Raises Invalid when the system does not let it.
    """
    beside = path.with_name(f".{_cut(path.name)}.{secrets.token_hex(6)}")
    try:
        mode = _mode(path)
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            _lock(file.fileno())
            file.write(data)
            file.flush()
            if mode is not None:
                beside.chmod(mode)
                os.fsync(file.fileno())
            beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            hint = _HINTS.get(error.errno or 0)
            raise Invalid(f"{str(path)!r} cannot be written: {error.strerror or error}", hint=hint) from None
        raise


def remove_leftovers(paths: Iterable[Path]) -> None:
    """Remove what processes that were killed while they wrote some files have left beside them."""
    names: dict[Path, set[str]] = {}
    for path in paths:
        names.setdefault(path.parent, set()).add(_cut(path.name))
    for folder, own in names.items():
        with suppress(OSError), os.scandir(folder) as listing:
            for entry in listing:
                match = _BESIDE.fullmatch(entry.name)
                if match and match[1] in own and entry.is_file(follow_symlinks=False):
                    with suppress(OSError):
                        _remove_unlocked(Path(entry.path))


def _cut(name: str) -> str:
    """Return as many whole characters of a name as there may be in the name of the file beside it."""
    name = name[:_NAME_BYTES]
    while len(os.fsencode(name)) > _NAME_BYTES:
        name = name[:-1]
    return name


def _mode(path: Path) -> int | None:
    """Return the rights of the file at a path, None where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_mode & 0o7777 if S_ISREG(status.st_mode) else None


def _remove_unlocked(path: Path) -> None:
    """Remove a file that no process is writing. Raises OSError where one is."""
    with path.open("rb") as file:
        _lock(file.fileno())
        path.unlink()


def _lock(file: int) -> None:
    """Lock a file as long as it is open; its end, also by a kill, is the end of the lock."""
    try:
        import fcntl
    except ImportError:  # Windows, where a file that is open cannot be removed
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
