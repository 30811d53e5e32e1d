"""Whether a path still leads to the file that a process has open.

SQLite goes on with an open file that was removed or replaced, and so would write what nobody finds. Its log (`-wal`)
and the index of that (`-shm`) are as much of the file as the file itself: a process that opens the file finds its
own ones where they were taken away, and knows nothing of what the others write.

Each statement and each commit asks. So the folder is looked at first: while it is the same one and nothing was put
into it or taken out of it since the files were looked at, they are where they were.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TypeAlias

from infospace.core.errors import StoreError

_Identity: TypeAlias = "tuple[int, int]"
_Folder: TypeAlias = "tuple[int, int, int]"

BESIDE = ("-wal", "-shm")

SETTLED_NS = 3_000_000_000
"""How old the last change of a folder has to be for the next one to have another time: systems of files count in
steps of up to two seconds."""


class FilePlace:
    """Where a file lies, and which one it is."""

    def __init__(self, path: Path, address: str) -> None:
        """Take the file that is there now for the one that is open, and so those beside it, where there are some."""
        self._path = str(path)
        self._beside = [f"{path}{suffix}" for suffix in BESIDE]
        self._folder = str(path.parent)
        self._seen: dict[bool, _Folder | None] = {False: None, True: None}
        """How the folder was when the file was found in its place; with True, when the two beside it were, too."""
        self._address = address
        self._known: dict[str, _Identity] = {}
        for one in (self._path, *self._beside):
            results = self._identity(one)
            if results is not None:
                self._known[one] = results

    def check(self, *, log: bool = False) -> None:
        """Raise StoreError where another file is there, or none; with `log`, also for the two files beside it."""
        folder = self._folder_now()
        if folder is not None and folder == self._seen[log]:
            return
        if self._identity(self._path) != self._known.get(self._path, ()):
            raise self._gone(self._path)
        known = self._known
        for path in self._beside if log else ():
            results = self._identity(path)
            if path in known if results is None else results != known.setdefault(path, results):
                raise self._gone(path)
        # The folder was read before the files: what changes in between gives it another time.
        if folder is not None and time.time_ns() - folder[2] > SETTLED_NS:
            self._seen[log] = self._seen[False] = folder

    def _folder_now(self) -> _Folder | None:
        """Return which folder it is and when something was last put into it or taken out; None where nobody says."""
        if os.name != "posix":
            return None
        try:
            status = os.lstat(self._folder)
        except OSError:
            return None  # what is wrong with the place is told of the file
        return status.st_dev, status.st_ino, status.st_mtime_ns

    def _identity(self, path: str) -> _Identity | None:
        try:
            status = os.lstat(path)  # a link in its place would be another file
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            why = error.strerror or str(error)
            raise StoreError(f"the file {path!r} is out of reach: {why}", hint="look at the disk") from error
        return status.st_dev, status.st_ino

    def _gone(self, path: str) -> StoreError:
        what = f"the file of the space {self._address!r}"
        if path != self._path:
            what = f"{Path(path).name!r}, which belongs to the space {self._address!r},"
        how = "removed" if self._identity(path) is None else "replaced by another one"
        message = f"{what} was {how} while it was open: nothing of this is stored"
        return StoreError(message, hint="put the file back, or name another one; then open it again")
