"""What rules are: facts of three terms, patterns with variables, and what follows where they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Term: TypeAlias = "str | int | float | bool"
Fact: TypeAlias = tuple[Term, Term, Term]
"""Of what, which property, and its value: `("git/git_log", "server", "git")`."""
Pattern: TypeAlias = tuple[Term, Term, Term]
"""A fact in which texts that begin with `?` are variables."""
Deed: TypeAlias = Literal["prefer", "avoid", "require", "select"]

DEEDS: Final[tuple[Deed, ...]] = ("prefer", "avoid", "require", "select")
QUERY: Final = "query"
USER: Final = "user"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a rule does with a tool, or the fact that it adds, where it holds."""

    deed: Deed | None
    tool: Term = ""
    fact: Pattern | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. Where all of `when` hold, and none of `unless`, its conclusions follow.

    `unless` is held against what is known before any rule: so the order of rules decides nothing.
    """

    name: str
    when: Sequence[Pattern]
    unless: Sequence[Pattern]
    then: Sequence[Conclusion]
    priority: int = 0


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of a file, and the facts that stand in it."""

    rules: Sequence[Rule]
    facts: Sequence[Fact] = ()


def is_variable(term: Term) -> bool:
    """Whether a term stands for any value."""
    return isinstance(term, str) and term.startswith("?")
