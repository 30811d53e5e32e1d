"""What a goal says literally: quoted texts, numbers, paths, addresses, dates, times, time zones, and names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from infospace.core.json_types import JSON

LiteralKind: TypeAlias = Literal[
    "quoted", "url", "uri", "path", "glob", "date", "time", "timezone", "number", "name", "email"
]

_DIGITS: Final = r"\d{1,300}"
"""As many as a number may have that a plan can hold."""
_PATTERNS: Final[Sequence[tuple[LiteralKind, str]]] = (
    (
        "quoted",
        r"""(?<!\w)'(?P<q1>[^'\n]+)'(?!\w)|"(?P<q2>[^"\n]+)"|“(?P<q3>[^”\n]+)”|„(?P<q4>[^“”\n]+)[“”]|`(?P<q5>[^`\n]+)`""",
    ),
    ("url", r"\b(?:https?|ftp)://[^\s'\"<>]*[^\s'\"<>.,;:!?)]"),
    ("email", r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"),
    ("uri", r"\b[a-z]{2,12}:[a-z]{2,12}:[\w-]{6,}\b"),
    (
        "timezone",
        r"\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[A-Z][\w+-]*(?:/[A-Z]\w*)?|\bUTC\b",
    ),
    ("glob", r"(?<![\w/])[\w./-]*\*[\w.*/-]*"),
    ("path", r"(?<![\w/])(?:~|\.{1,2})?/[\w.@+/-]*[\w@+-]|(?<![\w/.])[\w-]+(?:/[\w.-]+)*\.[a-z][a-z0-9]{0,4}\b(?!\()"),
    ("date", r"\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?\b"),
    ("time", r"\b(?:[01]?\d|2[0-3]):[0-5]\d\b"),
    ("number", rf"(?<![\w.])-?{_DIGITS}(?:\.\d+)?\b(?![.\w])|(?<![\w.])-?{_DIGITS}(?=\.?(?:\s|$))"),
    ("name", r"(?<![.!?]\s)(?<!^)\b[A-Z][\w’-]+(?:\s+(?:of\s+|the\s+|de\s+)?[A-Z][\w’-]+)*"),
)
_FIND: Final = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS))
_STANDS_FOR: Final[dict[str, str]] = {
    "url": "URL",
    "path": "file",
    "glob": "files",
    "date": "date",
    "time": "time",
    "timezone": "timezone",
}
"""Words that a search reads in the place of a literal."""
_WORD: Final = re.compile(r"[A-Za-z][\w-]*|[.;,]")
_ACRONYM: Final = re.compile(r"[A-Z]{2,5}s?$")


@dataclass(frozen=True, slots=True)
class GoalLiteral:
    """One of them: what it says, what it looks like, and the words of the goal just before and after it."""

    text: str
    kinds: frozenset[LiteralKind]
    start: int
    end: int
    before: tuple[str, ...]
    after: tuple[str, ...] = ()
    input: str = ""
    """The name of the input that it is, where the goal itself does not say it."""

    def value(self) -> int | float | str:
        """Return it as a number where it is one."""
        if "number" not in self.kinds:
            return self.text
        return float(self.text) if "." in self.text else int(self.text)


def literals(goal: str) -> list[GoalLiteral]:
    """Return what a goal says literally, in order."""
    return list(_literals(goal))


def of_input(name: str, value: JSON) -> GoalLiteral | None:
    """Return an input as if the goal said it by its name; None for what is neither a text nor a number."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    text = str(value)
    whole = _FIND.fullmatch(text)
    kinds: set[LiteralKind] = {"quoted"} if isinstance(value, str) else {"number"}
    if whole is not None and isinstance(value, str):
        kinds.add(_kind(whole))
    before = tuple(word.lower() for word in _WORD.findall(name.replace("_", " ")))
    return GoalLiteral(text, frozenset(kinds), -1, -1, before, (), name)


def _literals(goal: str) -> Iterator[GoalLiteral]:
    for match in _FIND.finditer(goal):
        kind, text = _kind(match), match.group()
        kinds = {kind}
        if kind == "quoted":
            text = next(
                value
                for name, value in match.groupdict().items()
                if value is not None and name[0] == "q" and name != "quoted"
            )
            inner = _FIND.fullmatch(text)
            if inner is not None and _kind(inner) != "quoted":
                kinds.add(_kind(inner))
        if kind == "name" and _ACRONYM.fullmatch(text):
            continue
        before = tuple(word.lower() for word in _WORD.findall(goal[: match.start()]))[-4:]
        after = tuple(word.lower() for word in _WORD.findall(goal[match.end() :]))[:2]
        yield GoalLiteral(text, frozenset(kinds), match.start(), match.end(), before, after)


def _kind(match: re.Match[str]) -> LiteralKind:
    return next(kind for kind, _ in _PATTERNS if match.group(kind) is not None)


def without_literals(goal: str, literals: Sequence[GoalLiteral]) -> str:
    """Return a goal with words for its literals, as tools are searched by it: names stay, since they may be words."""
    parts, at = [], 0
    for literal in literals:
        word = next(
            (
                _STANDS_FOR[kind]
                for kind in ("timezone", "time", "date", "url", "glob", "path")
                if kind in literal.kinds
            ),
            "",
        )
        if "path" in literal.kinds and "." not in literal.text.rpartition("/")[2]:
            word = ""
        if "name" in literal.kinds:
            continue
        parts += [goal[at : literal.start], word]
        at = literal.end
    return " ".join("".join((*parts, goal[at:])).split())
