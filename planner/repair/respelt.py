"""A document while it is read as it is meant: what was written otherwise, and the way back to where that stands."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from infospace.contract.catalogue import Catalogue
from infospace.core.json_types import JSON
from planner.language.json_patch import at, patch_in_place
from planner.language.problems import Patch, Problem


@dataclass(frozen=True, slots=True)
class Spelling:
    """One thing that is written otherwise: the problem of it, without its severity, and the patch that mends it."""

    code: str
    pointer: str
    message: str
    hint: str
    patch: Patch
    places: tuple[tuple[str, str], ...] = ()
    """Places after the patch, and where what is there stood before, beside those that its moves tell."""


@dataclass
class Respelt:
    """A document while it is read: what was found, the document as it is meant, and the way back to it as written."""

    catalogue: Catalogue
    root: list[JSON]
    problems: list[Problem] = field(default_factory=list)
    _places: list[tuple[str, str, bool]] = field(default_factory=list)
    _copied: bool = False

    @property
    def document(self) -> JSON:
        """The document as it is meant; the very same where nothing was written otherwise."""
        return self.root[0]

    def at(self, pointer: str) -> JSON:
        """Return what stands at a place of the document as it is meant."""
        value: JSON = at(self.root[0], pointer)
        return value

    def take(self, spelling: Spelling) -> None:
        """Write a thing as it is meant, and tell it."""
        pointer, exact = self._written(spelling.pointer)
        patch = self._written_patch(spelling.patch)
        if not self._copied:
            self.root, self._copied = [copy.deepcopy(self.root[0])], True
        patch_in_place(self.root, spelling.patch)
        self.problems.append(
            Problem(spelling.code, pointer, spelling.message, spelling.hint, "error", patch if exact else None)
        )
        for operation in spelling.patch:
            path = operation["path"]
            if operation["op"] == "move":
                self._places.append((path, operation["from"], True))
            elif operation["op"] == "add":
                self._places.append((path, path.rpartition("/")[0], False))
            elif operation["op"] == "replace":
                self._places.append((path, path, False))
        self._places.extend((after, before, True) for after, before in spelling.places)

    def all_written(self, problems: Sequence[Problem]) -> list[Problem]:
        """Return the problems of the document as it is meant, at the places of the document as it was written."""
        return [*self.problems, *(self._back(problem) for problem in problems)] if self._copied else list(problems)

    def _back(self, problem: Problem) -> Problem:
        pointer, _ = self._written(problem.pointer)
        fix = None if problem.fix is None else self._written_patch(problem.fix)
        return dataclasses.replace(problem, pointer=pointer, fix=fix)

    def _written_patch(self, patch: Patch) -> Patch | None:
        """Return a patch with the places as written; None where one is not there yet."""
        results = []
        for operation in patch:
            mapped = dict(operation)
            for key in ("path", "from"):
                if key in operation:
                    mapped[key], exact = self._written(operation[key])
                    if not exact:
                        return None
            results.append(mapped)
        return results

    def _written(self, pointer: str) -> tuple[str, bool]:
        """Return where a place stood as written, and whether it is just that, and not what stands around it."""
        sure = True
        for after, before, exact in reversed(self._places):
            if pointer == after or pointer.startswith(f"{after}/"):
                if exact:
                    pointer = before + pointer[len(after) :]
                else:
                    sure = sure and pointer == after == before
                    pointer = before
        return pointer, sure


def names_bound(value: JSON, keys: frozenset[str]) -> Iterator[str]:
    """Iterate over the names that anything in a document binds, by one of some keys."""
    if isinstance(value, list):
        for item in value:
            yield from names_bound(item, keys)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key in keys and isinstance(item, str):
                yield item.lstrip("$")
            elif isinstance(item, (list, dict)):
                yield from names_bound(item, keys)
