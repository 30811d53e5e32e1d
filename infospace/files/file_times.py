"""When files were made and last changed: as the file system has it, or as the commits of a Git repository do."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from infospace.core.clock import at
from infospace.core.errors import Invalid


class Times(NamedTuple):
    """ISO 8601 in UTC; None where nobody knows."""

    created: str | None = None
    modified: str | None = None


class FileTimes(Protocol):
    """Says when a file was made and last changed."""

    def __call__(self, path: Path) -> Times:
        """Return the times of a file that is there."""


def of_file_system(path: Path) -> Times:
    """Return what the file system has: where it keeps no birth, the earlier of the change of content and of entry."""
    try:
        results = path.stat()
    except OSError:
        return Times()
    born = getattr(results, "st_birthtime", None)
    return Times(at(min(results.st_mtime, results.st_ctime) if born is None else born), at(results.st_mtime))


@dataclass(slots=True)
class OfGit:
    """First and last commit of each file, of repositories read once each; a file in no commit has its own times."""

    _read: dict[Path, dict[str, Times]] = field(default_factory=dict)
    _tops: dict[Path, Path | None] = field(default_factory=dict)

    def __call__(self, path: Path) -> Times:
        """Return the times of a file. Raises Invalid where Git is not installed, or cannot read the repository."""
        top = self._top(path.parent)
        if top is None:
            return of_file_system(path)
        if top not in self._read:
            self._read[top] = _history(top)
        return self._read[top].get(path.relative_to(top).as_posix()) or of_file_system(path)

    def _top(self, folder: Path) -> Path | None:
        if folder not in self._tops:
            result = folder if (folder / ".git").exists() else None
            self._tops[folder] = result or (self._top(folder.parent) if folder.parent != folder else None)
        return self._tops[folder]


_MARK = "\x01"


def _history(top: Path) -> dict[str, Times]:
    """Read all commits of a repository, latest first, with the files that each added or changed."""
    command = ["git", "-C", str(top), "-c", "core.quotePath=false", "log", f"--format={_MARK}%ct", "--name-only", "-z"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - a fixed command
    except OSError as error:
        raise Invalid(f"git cannot be run: {error.strerror}", hint="install Git, or leave --git-times out") from None
    if done.returncode:
        texts = done.stderr.decode("utf-8", "replace").strip().splitlines()
        if texts and "does not have any commits" in texts[0]:
            return {}
        raise Invalid(f"the history of {str(top)!r} cannot be read: {texts[0] if texts else 'git failed'}")
    results: dict[str, Times] = {}
    for commit in done.stdout.decode("utf-8", "surrogateescape").split(_MARK)[1:]:
        seconds, _, names = commit.partition("\0")
        moment = at(int(seconds.strip()))
        for name in names.lstrip("\n").split("\0"):
            if name:
                known = results.get(name)
                results[name] = Times(moment, moment if known is None else known.modified)
    return results
