"""How well what a goal says literally fits an argument of a tool: by kind, by names, and by the words around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from infospace.core.json_types import JSON
from infospace.schema.normal_form import Alternative, NormalSchema
from infospace.tools.search.tokenize import tokenize
from infospace.tools.search.types import Parameter
from planner.metatools.chaining.literals import GoalLiteral

MIN_FIT = 0.45
"""Fit from which on a literal may be an argument that is needed."""
CUED = 1.0
"""The same of an argument that need not be given: only where the goal names it."""

_PATHS: Final = frozenset(
    {"path", "file", "filename", "directory", "folder", "dir", "repo", "repository", "source", "destination"}
)
_FOLDERS: Final = frozenset({"directory", "folder", "dir", "repo", "repository"})
_IDENTIFIERS: Final = frozenset({"id", "uri", "uuid", "key", "sha"})
_COUNTS: Final = frozenset({"limit", "max", "count", "size", "top", "amount"})
_COUNTED: Final = {"first": _COUNTS | {"head"}, "last": _COUNTS | {"tail"}, "latest": _COUNTS}
"""Words before a number, with those of arguments that it then counts."""
_ADDRESSES: Final = frozenset({"url", "uri", "link", "href", "address"})
_TIMES: Final = frozenset({"time", "date", "datetime", "timestamp", "since", "until", "start", "end"})
_FROM: Final = frozenset({"source", "from", "start", "base", "old", "begin"})
_TO: Final = frozenset({"destination", "target", "to", "end", "new", "dest"})
_QUOTED_WORD: Final = re.compile(r"['\"`]([a-z][\w-]{1,20})['\"`]")


@dataclass(frozen=True, slots=True)
class FromInput:
    """An input of the plan, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Nature:
    """What an argument takes: `single` of a type, or a list of them; and what its name and description speak of."""

    single: str
    many: bool
    whole: bool
    name: tuple[str, ...]
    about: frozenset[str]
    values: tuple[Any, ...] = ()
    format: str = ""


def nature_of(parameter: Parameter) -> Nature | None:
    """Return what an argument takes, None where nothing that a goal says literally can be it."""
    many, result = False, _plain(parameter.schema)
    if result is None:
        lists = [alternative for alternative in parameter.schema.alternatives if alternative.type == "array"]
        many, result = True, _plain(lists[0].at_place(lists[0].first)) if lists else None
    if result is None:
        return None
    name, about = tuple(tokenize(parameter.name)), frozenset(tokenize(parameter.description))
    values = result.values or ()
    if not values and not many and parameter.required:
        values = tuple(dict.fromkeys(_QUOTED_WORD.findall(parameter.description)))
        values = values if len(values) > 1 else ()
    return Nature(result.type, many, result.whole, name, about, values, next(iter(result.all("format")), ""))


def _plain(schema: NormalSchema) -> Alternative | None:
    """The alternative of texts, numbers or truths, where null is the only other one."""
    kinds = [alternative for alternative in schema.alternatives if alternative.type != "null"]
    plain = [alternative for alternative in kinds if alternative.type in ("string", "number")]
    return plain[0] if plain and len(plain) == len(kinds) and not schema.is_any else None


def fit(literal: GoalLiteral, nature: Nature) -> float:
    """Return how well a literal can be an argument, from 0 for not at all; 1 and more where the goal says so."""
    kinds = _by_kind(literal, nature)
    return 0.0 if kinds <= 0 else kinds + _by_words(literal, nature)


def _by_kind(literal: GoalLiteral, nature: Nature) -> float:
    kinds, name = literal.kinds, set(nature.name)
    if nature.values:
        return 0.9 if _listed(literal.text, nature) is not None else 0.0
    if nature.single == "number":
        if "number" not in kinds or (nature.whole and "." in literal.text):
            return 0.0
        return 0.5
    if "timezone" in name or ("timezone" in nature.about and "time" not in name):
        return 1.0 if "timezone" in kinds else 0.0
    if "timezone" in kinds:
        return 0.0
    if name & _ADDRESSES:
        return 1.0 if "url" in kinds or "uri" in kinds else 0.0
    if name & _TIMES and not name & {"zone"}:
        return 0.9 if kinds & {"time", "date"} else 0.0
    if name & _PATHS or (nature.many and nature.about & {"path", "file"}):
        if "path" in kinds:
            return 0.2 if name & _FOLDERS and _has_ending(literal.text) else 0.9
        return 0.3 if kinds == {"quoted"} and not nature.many and " " not in literal.text else 0.0
    if "pattern" in name:
        return 1.0 if "glob" in kinds else 0.6 if "quoted" in kinds else 0.0
    if kinds & {"path", "glob", "url", "uri", "email", "time", "date"} and "quoted" not in kinds:
        return 0.1
    if "number" in kinds and "quoted" not in kinds:
        return 0.5 if name & {"id", "number"} else 0.1
    if name & _IDENTIFIERS and (" " in literal.text or "name" in kinds):
        return 0.0
    if "quoted" in kinds:
        return 0.7
    return 0.5 if "name" in kinds else 0.0


def _has_ending(path: str) -> bool:
    """Whether a path is that of a file by its ending."""
    return "." in path.rpartition("/")[2].lstrip(".")


def _by_words(literal: GoalLiteral, nature: Nature) -> float:
    """What the words around a literal add: the argument's own name most, then what is said of it."""
    near = [word for word in literal.before if word not in ".;,"]
    stems = [stem for word in near[-3:] for stem in tokenize(word)]
    added = 0.0
    if stems and stems[-1] in nature.name:
        added += 0.6
    elif set(stems) & set(nature.name):
        added += 0.5
    elif set(stems) & nature.about:
        added += 0.1
    if literal.after and set(tokenize(literal.after[0])) & set(nature.name) and nature.single == "number":
        added += 0.5
    if nature.single == "number" and near and set(nature.name) & _COUNTED.get(near[-1], frozenset()):
        added += 0.6
    last = next((word for word in reversed(near) if word in _WAYS), None)
    if last is not None:
        ways = set(nature.name)
        if ways & (_FROM if last == "from" else _TO if last in ("to", "into", "as") else frozenset()):
            added += 0.35
        elif (last == "from" and ways & _TO) or (last in ("to", "into") and ways & _FROM):
            added -= 0.35
    return added


_WAYS: Final = frozenset({"from", "to", "into", "in", "as", "of", "with"})


def _listed(text: str, nature: Nature) -> Any:
    """The value that is named by a text, in whatever case; None where none is."""
    folded = text.casefold()
    return next((value for value in nature.values if isinstance(value, str) and value.casefold() == folded), None)


def value_of(literal: GoalLiteral, nature: Nature) -> JSON | FromInput:
    """Return a literal as an argument takes it, an input by its name."""
    if literal.input:
        return FromInput(literal.input)
    if nature.values:
        value: JSON = _listed(literal.text, nature)
        return value
    return literal.value() if nature.single == "number" else literal.text


def named_value(nature: Nature, words: Sequence[str]) -> JSON:
    """Return the only one of an argument's values that is a word of the goal; None where none or several are."""
    stems = {stem for word in words for stem in tokenize(word)}
    results = [
        value
        for value in nature.values
        if isinstance(value, str) and value and set(tokenize(value)) <= stems and tokenize(value)
    ]
    return results[0] if len(results) == 1 else None
