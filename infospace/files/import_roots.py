"""By which root files are known: the outermost of all folders that were imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from infospace.files.walk import FoundFile
from infospace.store.protocol import TrackedFile


class ImportRoots:
    """The roots of a space, with those of an import added."""

    def __init__(self, known: Iterable[str], added: Iterable[str]) -> None:
        self._roots: dict[str, Path] = {}
        every = {root: Path(root) for root in (*known, *added)}
        outer = [path for path in every.values() if not any(above in path.parents for above in every.values())]
        for root, path in every.items():
            self._roots[root] = next(top for top in outer if top == path or top in path.parents)

    def place(self, root: str, path: str) -> tuple[str, str]:
        """Return the root and path by which a file is known."""
        top = self._roots[root]
        below = Path(root).relative_to(top).as_posix()
        return str(top), path if below == "." else f"{below}/{path}"

    def placed(self, file: FoundFile) -> FoundFile:
        """Return a file as it is known."""
        root, path = self.place(str(file.root), file.relative)
        return FoundFile(Path(root), path, file.path)

    def once(self, files: Iterable[FoundFile]) -> list[FoundFile]:
        """Drop the files that come twice."""
        seen: dict[tuple[str, str], FoundFile] = {}
        for file in files:
            seen.setdefault(self.place(str(file.root), file.relative), file)
        return list(seen.values())

    def moved(self, tracked: Iterable[TrackedFile]) -> Iterator[tuple[TrackedFile, TrackedFile]]:
        """Give the files that were known by a root that lies inside another one now, before and after."""
        for one in tracked:
            root, path = self.place(one.root, one.path)
            if root != one.root:
                yield one, replace(one, root=root, path=path)
