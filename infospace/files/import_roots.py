"""By which root and path files are known: what an import has made of a file stays, whatever is imported later."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from infospace.files.walk import FileToImport
from infospace.store.link_targets import is_inside, whole_path
from infospace.store.protocol import TrackedFile


class ImportRoots:
    """The roots of a space, with those of an import added.

    A file that is known keeps its root. A new one gets the innermost of the roots around it, so that all files of a
    folder that was once imported have the same; a folder that is imported is a root of its own only where none is
    around it.
    """

    def __init__(self, tracked: Iterable[TrackedFile], added: Iterable[str]) -> None:
        self._known: dict[str, tuple[str, str]] = {}
        self.twins: list[TrackedFile] = []
        every = sorted(tracked, key=lambda one: len(one.root))
        for file in every:
            place = (file.root, file.path)
            if self._known.setdefault(whole_path(*place), place) != place:
                self.twins.append(file)
        roots = {file.root for file in every}
        for root in sorted(added, key=len):
            if not any(is_inside(root, around) for around in roots):
                roots.add(root)
        self._roots = sorted(roots, key=len, reverse=True)

    def place(self, root: str, path: str) -> tuple[str, str]:
        """Return the root and path by which a file is known."""
        whole = whole_path(root, path)
        known = self._known.get(whole)
        if known is None:
            around = next(one for one in self._roots if is_inside(whole, one))
            known = self._known[whole] = (around, whole[len(whole_path(around, "")) :])
        return known

    def placed(self, file: FileToImport) -> FileToImport:
        """Return a file as it is known."""
        root, path = self.place(str(file.root), file.relative)
        return file if path == file.relative else FileToImport(Path(root), path, file.path)

    def without_duplicates(self, files: Iterable[FileToImport]) -> list[FileToImport]:
        """Drop the files that come twice."""
        seen: dict[tuple[str, str], FileToImport] = {}
        for file in files:
            seen.setdefault(self.place(str(file.root), file.relative), file)
        return list(seen.values())
