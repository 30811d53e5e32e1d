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


def write_atomically(path: Path, data: bytes, *, follow: bool = True) -> None:
    """Put bytes at a path by way of a file beside it, with the rights of the file that was there.

    A link stays, and the file is written that it leads to; what is there and no file, as a pipe, is written into. Both
    only with `follow`: without it, whatever is there is replaced, so that nothing is written anywhere else.

    A file that replaces another is flushed to the disk first: after a power cut the old or the new one is there whole.
    New files are not flushed: they take nothing away, and thousands of them may be written at once.

    Raises Invalid when the system does not let it.
    """
    try:
        status = _status(path, follow)
        is_link = follow and path.is_symlink()
        if follow and status is not None and (stream := _stream(path, status, is_link)) is not None:
            with os.fdopen(stream, "wb") as file:
                file.write(data)
        else:
            _put(Path(os.path.realpath(path)) if is_link else path, data, status)
    except OSError as error:
        hint = _HINTS.get(error.errno or 0)
        raise Invalid(f"{str(path)!r} cannot be written: {error.strerror or error}", hint=hint) from None


def _status(path: Path, follow: bool) -> os.stat_result | None:
    try:
        return path.stat() if follow else path.lstat()
    except FileNotFoundError:
        return None


def _stream(path: Path, status: os.stat_result, is_link: bool) -> int | None:
    """Open what is no file that could be replaced; None for one that could.

    `/dev/stdout` is a link, and what it leads to may be a file: that is the one that this process goes on writing to.
    """
    for standard in (1, 2) if is_link else ():
        with suppress(OSError):
            if os.path.samestat(os.fstat(standard), status):
                return os.dup(standard)
    return None if S_ISREG(status.st_mode) else os.open(path, os.O_WRONLY)


def _put(path: Path, data: bytes, replaced: os.stat_result | None) -> None:
    """Replace what is at a path by a file with these bytes, with the rights of the file that it was, if it was one."""
    beside = path.with_name(f".{_cut(path.name)}.{secrets.token_hex(6)}")
    rights = replaced.st_mode & 0o7777 if replaced is not None and S_ISREG(replaced.st_mode) else None
    creating = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        with os.fdopen(os.open(beside, creating, 0o666 if rights is None else 0o600), "wb") as file:
            _lock(file.fileno())
            if rights is not None and hasattr(os, "fchmod"):  # before there is anything to read in it
                os.fchmod(file.fileno(), rights)
            file.write(data)
            file.flush()
            if rights is not None:
                os.fsync(file.fileno())
            beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
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
