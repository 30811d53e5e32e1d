"""What one caller of the server may do: which tools it knows of, how they are shown to it, how much and how often."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from infospace.core.bounds import Bounds
from infospace.store.scoped_store import EVERYTHING as EVERYTHING_SEEN
from infospace.store.scoped_store import Visibility
from infospace.tools.scope import EVERYTHING, Scope
from infospace.tools.search.rules.language import USER, Fact, Term
from planner.metatools.arguments import LONGEST_MS, MOST_ON_PAGE

MINUTE = 60.0

ToolSet: TypeAlias = Literal["core", "meta", "full", "compat"]
"""A set of tools that a client is told of."""

Approvals: TypeAlias = Literal["people", "planner"]
"""Who answers what runs ask, such as whether a tool may be called: people, or the planner that runs them."""


@dataclass(frozen=True, slots=True)
class Access:
    """The access of a caller, who is named in the audit."""

    caller: str
    scope: Scope = EVERYTHING
    hide_underlying_tools: bool = True
    """Whether the tools of servers are called through the meta-tools and plans alone."""
    rate_per_minute: int | None = None
    """Calls that may be made in any minute, None without limit."""
    timeout_ms: int = LONGEST_MS
    """Milliseconds that a call of a tool may last at most."""
    results: int = MOST_ON_PAGE
    """Tools that one answer has at most."""
    approve: Sequence[str] = ()
    """Tools that are called without asking: `server/tool`, `server/*`."""
    approvals: Approvals = "people"
    """Who answers what runs ask."""
    admin: bool = False
    """Whether it may have servers listed anew, and sees the figures of all callers."""
    sight: Visibility = EVERYTHING_SEEN
    """Which notes, runs and sessions it may see, and whether it may change notes."""
    tools: Sequence[ToolSet] = ("core",)
    """The sets of tools that it is told of."""
    bounds: Bounds | None = None
    """What one step of its plans may make, whatever they say; None leaves it to them."""
    about: Mapping[str, Term] = field(default_factory=dict)
    """What rules for tools know of it besides, by property."""

    @property
    def facts(self) -> Sequence[Fact]:
        """What rules for tools know of the caller: its name, its teams, whether it is an admin, and what is said."""
        own: list[Fact] = [(USER, "name", self.caller), (USER, "admin", self.admin)]
        own += [(USER, "team", team) for team in self.scope.teams or ()]
        return [*own, *((USER, name, value) for name, value in self.about.items())]


class Rate:
    """Counts the calls of the last minute."""

    def __init__(self, most: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._calls: deque[float] = deque()

    def acquire(self) -> float:
        """Count a call; or where there were too many, count nothing and return after how many seconds one may be."""
        if self._most is None:
            return 0.0
        now = self._clock()
        while self._calls and self._calls[0] <= now - MINUTE:
            self._calls.popleft()
        if len(self._calls) >= self._most:
            return self._calls[0] + MINUTE - now
        self._calls.append(now)
        return 0.0
