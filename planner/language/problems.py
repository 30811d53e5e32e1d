"""What the check says: each problem has a stable code, a JSON pointer, a sentence, and a way to mend it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from typing import Any, Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning"]
Patch: TypeAlias = "list[dict[str, Any]]"
"""A JSON Patch (RFC 6902)."""
LOOKALIKE = "no-reference"
"""The code of a text that looks like a reference and is none. An error of the same text tells the hint instead."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a plan. `pointer` (RFC 6901) refers to the document as it was read."""

    code: str
    pointer: str
    message: str
    hint: str | None = None
    severity: Severity = "error"
    fix: Patch | None = None
    about: str | None = None
    """The variable that it is about; the reference, where a place in it does not exist."""
    suggestion: str | None = None
    """The variable, or the place behind it, that was probably meant; `hint` says so to people."""

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON object."""
        return {
            "code": self.code,
            "severity": self.severity,
            "pointer": self.pointer,
            "message": self.message,
            "hint": self.hint,
            "fix": self.fix,
        }


@dataclass(slots=True)
class Problems:
    """Collects problems, each place and code once."""

    found: list[Problem] = field(default_factory=list)
    _told: set[tuple[str, str, str]] = field(default_factory=set)
    _muted: int = 0

    def error(
        self,
        code: str,
        pointer: str,
        message: str,
        hint: str | None = None,
        fix: Patch | None = None,
        about: str | None = None,
        suggestion: str | None = None,
    ) -> None:
        """Add an error, unless the same one stands at the place already."""
        self._add(Problem(code, pointer, message, hint, "error", fix, about, suggestion))

    def warn(
        self,
        code: str,
        pointer: str,
        message: str,
        hint: str | None = None,
        fix: Patch | None = None,
        about: str | None = None,
        suggestion: str | None = None,
    ) -> None:
        """Add a warning, unless the same one stands at the place already."""
        self._add(Problem(code, pointer, message, hint, "warning", fix, about, suggestion))

    def _add(self, problem: Problem) -> None:
        key = (problem.code, problem.pointer, problem.message)
        if not self._muted and key not in self._told:
            self._told.add(key)
            self.found.append(problem)

    @contextmanager
    def muted(self) -> Iterator[None]:
        """Take no problem: what is found while this lasts is found again."""
        self._muted += 1
        try:
            yield
        finally:
            self._muted -= 1

    @property
    def muted_depth(self) -> int:
        """How many looks, one in another, are under way of which nothing is taken."""
        return self._muted

    def below(self, pointer: str) -> bool:
        """Whether there is an error at a place, or at one inside it."""
        places = (problem.pointer for problem in self.found if problem.severity == "error")
        return any(place == pointer or place.startswith(f"{pointer}/") for place in places)

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return all(problem.severity != "error" for problem in self.found)


def sort_problems(document: Any, problems: Iterable[Problem]) -> list[Problem]:
    """Return problems in the order in which their places stand in the document; of one place errors come first."""
    problems_with_causes = _with_causes(list(problems))
    return sorted(
        problems_with_causes, key=lambda problem: (_place(document, problem.pointer), problem.severity != "error")
    )


def _with_causes(problems: list[Problem]) -> Iterator[Problem]:
    """Give an error at a text that was meant for a reference the hint of how it is written: both are one mistake."""
    suggestion = {problem.pointer: problem.hint for problem in problems if problem.code == LOOKALIKE}
    wrong = {problem.pointer for problem in problems if problem.severity == "error"}
    for problem in problems:
        if problem.severity == "error" and problem.pointer in suggestion:
            yield replace_fields(problem, hint=suggestion[problem.pointer], fix=None)
        elif problem.code != LOOKALIKE or problem.pointer not in wrong:
            yield problem


def _place(document: Any, pointer: str) -> tuple[int, ...]:
    """The way to a place: at each holder how many stand before it; what is not there comes after what is."""
    way, at = [], document
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(at, Mapping) and key in at:
            way.append(next(index for index, name in enumerate(at) if name == key))
            at = at[key]
        elif isinstance(at, (list, tuple)) and key.isdecimal() and int(key) < len(at):
            way.append(int(key))
            at = at[int(key)]
        else:
            return (*way, len(at) if isinstance(at, (Mapping, list, tuple)) else 0)
    return tuple(way)


def join(pointer: str, *parts: str | int) -> str:
    """Return the JSON pointer of a place below another."""
    for part in parts:
        text = str(part)
        if "~" in text or "/" in text:
            text = text.replace("~", "~0").replace("/", "~1")
        pointer = f"{pointer}/{text}"
    return pointer


def replace(pointer: str, value: Any) -> Patch:
    """Return a patch that puts another value there."""
    return [{"op": "replace", "path": pointer, "value": value}]


def listed(words: Sequence[str], most: int = 12) -> str:
    """Return words as a list to read, cut where it gets long."""
    text = ", ".join(words[:most])
    return f"{text}, …" if len(words) > most else text
