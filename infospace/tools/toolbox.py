"""The tools of a space, by their full names."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import TYPE_CHECKING, Any

from infospace.core.clock import now
from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.json_types import JSON
from infospace.core.tool import NoAnswer, NotCalled, Tool, ToolAnswer, ToolFailed, ToolKind, ToolProvider
from infospace.data.misspelling import closest_spelling, is_misspelling, words_of
from infospace.data.paths import nearest
from infospace.schema.value_text import either
from infospace.store.tool_records import RecordCall
from infospace.tools.builtin import SERVER
from infospace.tools.call_examples import SuccessfulCallCache, calls_are_remembered
from infospace.tools.scope import EVERYTHING, Scope

if TYPE_CHECKING:
    from infospace.store.protocol import Store
    from infospace.tools.mcp.servers import Servers
    from infospace.tools.search.results import CallExample
    from infospace.tools.search.types import ToolTypes

_log = logging.getLogger(__name__)


_PREFIXES = {("functions",), ("function",), ("tools",), ("tool",), ("mcp",), ("api",), ("default", "api"), ("local",)}
"""What stands before the names of tools elsewhere, in words: it is the name of no server."""


PROPOSED = 4
"""Tools that a hint proposes because they fit the arguments of a call."""


class Toolbox:
    """Tools of several providers. Two providers of one server name are a Conflict.

    Those of `servers` are read when they are first needed, and nothing is started for that.
    """

    def __init__(
        self, servers: Servers | None = None, scope: Scope = EVERYTHING, longest_s: float | None = None
    ) -> None:
        self.servers = servers
        """The servers that `mcp.json` files name; None where there is no space."""
        self.scope = scope
        """What may be known of here: a tool out of it is not there."""
        self._successes = None if servers is None else servers.successes
        self._longest_s = longest_s
        """Seconds that a call may last at most, None for as long as its step or its server's entry says."""
        self._providers: dict[str, ToolProvider] = {}
        self._types: ToolTypes | None = None
        self._seen_and_in_scope: tuple[list[Tool], list[Tool]] = [], []
        """All tools that were looked at last, and those of them that are in scope."""

    def add(self, provider: ToolProvider) -> None:
        """Take a provider's tools in."""
        if provider.server in self._all():
            raise Conflict(f"there is a server {provider.server!r} already", hint="give one of them another name")
        if not provider.server or "/" in provider.server:
            raise Invalid(f"{provider.server!r} cannot be a server's name", hint="one without `/`")
        self._providers[provider.server] = provider

    def scoped(self, scope: Scope, longest_s: float | None = None, seen: Store | None = None) -> Toolbox:
        """Return the same tools for somebody who may know of those of a scope alone, and call them for so long.

        `seen` is the space as they see it, None where they see what is seen here: its calls are what worked before.
        """
        bounds = [one for one in (self._longest_s, longest_s) if one is not None]
        narrower = Toolbox(self.servers, self.scope.intersect(scope), min(bounds, default=None))
        narrower._providers = self._providers
        narrower._types = self.types
        narrower._successes = self._successes if self.servers is None or seen is None else SuccessfulCallCache(seen)
        return narrower

    @property
    def types(self) -> ToolTypes:
        """What the tools take and give, read once each, whoever looks."""
        if self._types is None:
            from infospace.tools.search.types import ToolTypes

            self._types = ToolTypes()
        return self._types

    def _all(self) -> Mapping[str, ToolProvider]:
        return self._providers if self.servers is None else {**self.servers.providers(), **self._providers}

    def __iter__(self) -> Iterator[Tool]:
        return (tool for tool in self.everything() if tool.kind == "tool")

    def everything(self) -> Iterator[Tool]:
        """Iterate over what can be called, and over prompts and resources, whose `kind` says so."""
        providers, listed = self._all(), {} if self.servers is None else self.servers.listed()
        tools: list[Tool] = []
        for server in sorted(providers):
            tools += providers[server].tools() if server in self._providers else listed.get(server, ())
        if self.scope == EVERYTHING:
            return iter(tools)
        every, within = self._seen_and_in_scope
        if len(every) != len(tools) or not all(map(is_, every, tools)):
            within = [tool for tool in tools if self.scope.allows(tool)]
            self._seen_and_in_scope = tools, within
        return iter(within)

    def never_listed(self) -> list[Tool]:
        """Return the servers that may be known and were never listed, each as one thing of the kind `server`."""
        tools = () if self.servers is None else self.servers.never_listed()
        return [tool for tool in tools if self.scope.allows(tool)]

    def successes(self) -> Sequence[CallExample]:
        """Return what worked before, the latest first; nothing where that is switched off.

        Nothing either for somebody who may not know of everything: it says what others asked for.
        """
        if self._successes is None or self.scope != EVERYTHING or not calls_are_remembered():
            return ()
        return self._successes()

    def find(self, full_name: str, kind: ToolKind = "tool") -> Tool | None:
        """Return what has a full name, `server/tool`, `server/prompt` or `server/URI`; None when there is none.

        A resource need not be among those that its server lists.
        """
        server, _, name = full_name.partition("/")
        provider = self._all().get(server)
        result = None if provider is None else self._find(provider, name, kind)
        return result if result is not None and self.scope.allows(result) else None

    def _find(self, provider: ToolProvider, name: str, kind: ToolKind) -> Tool | None:
        if kind == "tool":
            return provider.find(name)
        listed = next((tool for tool in provider.tools() if (tool.kind, tool.name) == (kind, name)), None)
        if listed is not None or kind == "prompt" or not name:
            return listed
        entry = None if self.servers is None else self.servers.entries.get(provider.server)
        return None if entry is not None and entry.rest else self._unlisted(provider.server, name)

    def get(self, full_name: str, kind: ToolKind = "tool") -> Tool:
        """Return what has a full name; NotFound says which is nearest."""
        tool = self.find(full_name, kind)
        if tool is None:
            raise NotFound(f"there is no {kind} {full_name!r}", hint=self.hint(full_name, kind))
        return tool

    def _unlisted(self, server: str, uri: str) -> Tool:
        """A resource that a server does not list; what its entry says of it holds all the same."""
        schema = {"type": "object", "additionalProperties": False}
        result = Tool(server, uri, "", schema, read_only=True, destructive=False, kind="resource")
        entry = None if self.servers is None else self.servers.entries.get(server)
        if entry is None:
            return result
        return replace(
            result,
            integration="MCP",
            tags=entry.tags,
            category=entry.category,
            trusted=entry.trusted,
            blocked=entry.blocked,
            visibility=entry.visibility,
            team=entry.team,
        )

    def closest(self, full_name: str, kind: ToolKind = "tool") -> str | None:
        """Return the full name that was probably meant: one alike, or the only one with that last part."""
        names = self._names(kind)
        near = nearest(full_name, names)
        if near is not None:
            return near
        last = full_name.rpartition("/")[2]
        same = [name for name in names if name.rpartition("/")[2] == last]
        return same[0] if len(same) == 1 else None

    def close_match(self, full_name: str, kind: ToolKind = "tool") -> str | None:
        """Return the full name that another is plainly written for; None where there is none, or several.

        Written in another case, with other separators, a letter or two apart, or without its server, or with a word in
        its place that is the name of no server: `getWeather`, `functions.get_weather`, `mcp__sky__get_weather`.
        """
        names = self._names(kind)
        server, slash, last = full_name.partition("/")
        if slash and words_of(server) not in _PREFIXES:
            servers = {name.partition("/")[0] for name in names}
            servers = {server} if server in servers else {one for one in servers if is_misspelling(server, one, 1)}
            return closest_spelling(full_name, [name for name in names if name.partition("/")[0] in servers])
        words = words_of(last if slash else full_name)
        prefix = next((size for size in (2, 1) if words[:size] in _PREFIXES and len(words) > size), 0)
        words = words[prefix:]
        whole = closest_spelling("_".join(words), names)
        if whole is not None:
            return whole
        result = closest_spelling("_".join(words), {name.partition("/")[2] for name in names})
        same = [name for name in names if name.partition("/")[2] == result]
        return same[0] if len(same) == 1 else None

    def hint(self, full_name: str, kind: ToolKind = "tool", values: Mapping[str, Any] | None = None) -> str:
        """Say which was probably meant, or which there are; or why its server has none.

        `values` is the schema of the arguments of a call: where no name is alike, the tools that take these are told.
        """
        server, _, name = full_name.partition("/")
        if server == SERVER and kind == "tool" and name:
            return f'what the space itself can do is a step of its own: {{"type": "{name}", …}}'
        lacking = self.unavailable_reason(full_name)
        if lacking is not None:
            return lacking
        near = self.closest(full_name, kind)
        if near is not None:
            return f"did you mean {near!r}?"
        fitting = () if values is None or kind != "tool" else self._callable_with(full_name, values)
        if fitting:
            return f"these arguments fit {either(fitting)}"
        names = self._names(kind)
        if not names:
            return f"no {kind}s in this space"
        names = sorted(names, key=lambda one: not one.startswith(f"{server}/"))
        return f"there are {', '.join(names[:8])}{', …' if len(names) > 8 else ''}"

    def _callable_with(self, full_name: str, values: Mapping[str, Any]) -> Sequence[str]:
        """The full names of tools that can be called with some arguments, and by which of theirs, the likest first."""
        from infospace.tools.search.types import callable_with

        results = callable_with(self.types, self, values, full_name.rpartition("/")[2])
        # One that cannot be called now is told as such, and after those that can.
        results.sort(key=lambda one: not one[0].connected)
        keys = set(values.get("properties", ()))
        messages = []
        for tool, fit in results[:PROPOSED]:
            notes = [] if keys == set(fit.arguments) else [f"as {', '.join(fit.arguments)}"]
            notes += [] if tool.connected else ["its server is down"]
            messages.append(f"{tool.full_name} ({'; '.join(notes)})" if notes else tool.full_name)
        return messages if len(results) <= PROPOSED else [*messages, f"one of {len(results) - PROPOSED:,} more"]

    def _names(self, kind: ToolKind) -> list[str]:
        return [tool.full_name for tool in self.everything() if tool.kind == kind]

    def unavailable_reason(self, full_name: str) -> str | None:
        """Say why the server of a name has no tools here, where a file names it; None of any other."""
        if self.servers is None or self.scope != EVERYTHING:
            return None
        server = full_name.partition("/")[0]
        entry = self.servers.entries.get(server)
        if entry is not None and entry.disabled:
            return f"the server {server!r} is disabled in {entry.file}"
        if entry is not None:
            known = next(one for one in self.servers.all() if one.name == server)
            refused = _refused(known.kept.error if known.kept is not None else None, full_name)
            if known.tools or refused is not None:
                return refused
            if known.kept is not None and known.state == "failed":
                return f"{known.kept.error}; `infospace tools sync` tries again"
            return f"the server {server!r} was never listed; `infospace tools sync` lists it"
        wrong = (
            problem
            for problem in self.servers.problems
            if problem.severity == "error" and problem.server in (server, "")
        )
        return next(
            (problem.message if not problem.server else f"its entry is wrong: {problem.message}" for problem in wrong),
            None,
        )

    def validate_arguments(self, tool: Tool, arguments: Mapping[str, Any]) -> None:
        """Raise Invalid with everything in which arguments do not fit a tool's schema."""
        from infospace.schema.validate import validate

        value: JSON = dict(arguments)
        faults = validate(value, tool.input_schema)
        if faults:
            message = f"the arguments of {tool.full_name} do not fit its schema: {'; '.join(faults)}"
            raise Invalid(message, hint=_unlisted_arguments_hint(tool, arguments))

    async def current(self, tool: Tool) -> Tool:
        """Return a tool as its server lists it now, the same one where that says what it said; starts the server.

        Raises NotCalled.
        """
        provider = self._all().get(tool.server)
        if provider is None:
            raise NotCalled(f"there is no server {tool.server!r} any more")
        current_tool = await provider.current(tool) if tool.kind == "tool" else tool
        if not self.scope.allows(current_tool):
            raise NotCalled(f"there is no tool {tool.full_name!r} any more")
        return current_tool

    async def call(self, tool: Tool, arguments: Mapping[str, Any], timeout_s: float | None = None) -> ToolAnswer:
        """Call a tool, get a prompt, or read a resource; how that went is remembered.

        `timeout_s` is the time limit in seconds; without it that of the server's entry holds, and the limit of a scope
        if that is shorter. Raises Invalid with all that is wrong with the arguments, before the call; NotCalled where
        the tool cannot be called; ToolFailed where it answers with an error.
        """
        from asyncio import CancelledError

        if not self.scope.allows(tool):
            raise NotFound(f"there is no tool {tool.full_name!r}", hint=self.hint(tool.full_name))
        self.validate_arguments(tool, arguments)
        provider = self._all().get(tool.server)
        if provider is None:
            raise NotCalled(f"there is no server {tool.server!r} any more")
        started, clock = now(), time.perf_counter()
        seconds = self._effective_timeout(tool, timeout_s)
        try:
            answer = await provider.call(tool, arguments, seconds)
        except NotCalled:
            raise
        except NoAnswer as error:
            self._record(tool, started, clock, well=False)
            if seconds is None or seconds != self._longest_s:
                raise
            raise NoAnswer(error.message, hint="no call may last longer here") from error
        except (ToolFailed, CancelledError):
            self._record(tool, started, clock, well=False)
            raise
        self._record(tool, started, clock, well=not answer.is_error)
        return answer

    def _effective_timeout(self, tool: Tool, timeout_s: float | None) -> float | None:
        if self._longest_s is None:
            return timeout_s
        return min(timeout_s or tool.timeout_s or self._longest_s, self._longest_s)

    def close(self) -> None:
        """End the servers that run."""
        if self.servers is not None:
            self.servers.close()

    def _record(self, tool: Tool, started: str, clock: float, *, well: bool) -> None:
        took = round((time.perf_counter() - clock) * 1000, 3)
        _log.info("called %s: %s, %.0f ms", tool.full_name, "success" if well else "failed", took)
        if self.servers is not None and tool.kind == "tool":
            self.servers.record(RecordCall(tool.server, tool.name, started, took, well))


def _refused(error: str | None, full_name: str) -> str | None:
    """Return what is said of a tool that its server lists and nobody can take, where that is said of it."""
    begin = f"the tool {full_name.partition('/')[2]!r:.200} is refused: "
    return next((one for one in (error or "").splitlines() if one.startswith(begin)), None)


def _unlisted_arguments_hint(tool: Tool, arguments: Mapping[str, Any]) -> str | None:
    """Return a hint that names arguments which an open schema accepts but does not list: they are probably misspelt."""
    known = tool.input_schema.get("properties")
    if not isinstance(known, Mapping) or tool.input_schema.get("additionalProperties") is False:
        return None
    strange = [f"{name!r:.80}" for name in arguments if name not in known]
    return f"it says nothing of {', '.join(strange[:8])}; it takes {', '.join(list(known)[:12])}" if strange else None
