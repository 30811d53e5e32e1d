"""Written plans that are broken off at some write, or told to rest after some step, and gone on with.

The whole journal, the answer and the space are those of a run that nobody disturbed. With INFOSPACE_PROVE=1 it is each
write and each step.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from infospace import InfospaceError, Space, open_space
from infospace.core.clock import later
from infospace.core.position import holds
from infospace.journal.rows import CallRow, Heartbeat
from infospace.store.changes import Change
from infospace.store.sqlite.store import SqliteStore
from infospace.tools.local import LocalTools
from planner.execute import run as running
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare
from planner.execute.start import run as start
from planner.journal.commit_order import SuspendRequest
from planner.journal.context_after_step import data_of
from planner.journal.events import Event, StepFinished, StepStarted
from planner.journal.result import RunResult
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import answer, pending_of, resume
from planner.parse.saved_plans import save_plan


def note(value: Any, out: str | None = None, **fields: Any) -> dict[str, Any]:
    step = {"type": "create-note", "value": value, **fields}
    return step if out is None else {**step, "out": out}


def tool(which: str, value: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"outside/{which}", "arguments": {"value": value}, **fields}


def each(*do: Any, target: str = "$c", **fields: Any) -> dict[str, Any]:
    return {"type": "for-each", "target": target, "as": "$x", "do": list(do), **fields}


def when(condition: Any, *then: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "if", "condition": condition, "then": list(then), **fields}


def beside(*branches: list[Any]) -> dict[str, Any]:
    return {"type": "parallel", "branches": list(branches)}


def add(value: str) -> dict[str, Any]:
    return {"type": "add", "target": "$all", "value": value}


def equal(target: str, value: Any) -> dict[str, Any]:
    return {"type": "equals", "target": target, "value": value}


LIST = {"type": "create-collection", "value": ["a", "b", "c"], "out": "$c"}
ALL = {"type": "create-collection", "value": [], "name": "all", "out": "$all"}
FAILS = {"type": "coerce", "target": "$t", "coercion": "int", "out": "$n"}

PLANS: dict[str, list[Any]] = {
    "versions of one Note": [
        note({"n": 0}, "$t", name="task"),
        {"type": "update-note", "target": "$t", "value": {"n": 1}, "merge": True, "out": "$u"},
        note("${u.n}", "$w"),
        {"type": "set-metadata", "target": "$t", "value": {"by": "me"}},
        {"type": "name", "target": "$w", "value": "w"},
        {"type": "remove", "target": "$t"},
        note("${w}", "$r", name="task"),
    ],
    "a loop that writes": [LIST, ALL, each(note("<${x}>", "$y"), add("$y"), out="$r")],
    "a loop in a loop": [
        LIST,
        ALL,
        each(each(note("${x}${z}", "$y"), add("$y"), **{"as": "$z"}), out="$o"),
        {"type": "size", "target": "$all", "out": "$r"},
    ],
    "a loop that ends early": [
        LIST,
        ALL,
        each(note("${x}", "$y"), add("$y"), until=equal("$y", "b"), out="$r"),
    ],
    "a loop that ends early and collects nothing": [
        LIST,
        each(note("${x}", "$y"), until=equal("$y", "b")),
        note("r", "$r"),
    ],
    "a loop of which an item fails": [
        {"type": "create-collection", "value": ["1", "x", "3"], "out": "$c"},
        ALL,
        each(
            {"type": "coerce", "target": "$x", "coercion": "int", "out": "$n"},
            add("$n"),
            on_fail=[note("no ${x}: ${error.step}", "$n"), add("$n")],
            out="$r",
        ),
    ],
    "a loop of which an item is passed over": [
        {"type": "create-collection", "value": ["1", "x", "3"], "out": "$c"},
        ALL,
        each({"type": "coerce", "target": "$x", "coercion": "int", "out": "$n"}, on_fail="continue", out="$r"),
        add("$r"),
    ],
    "a round of a while": [
        ALL,
        note(0, "$i"),
        {
            "type": "while",
            "condition": {"type": "less_than", "target": "$i", "value": 3},
            "body": [add("$i"), {"type": "size", "target": "$all", "out": "$i"}],
        },
        note("${i}", "$r"),
    ],
    "choices": [
        note("x", "$t"),
        when(equal("$t", "x"), note(1, "$r", name="then"), **{"else": [note(2, "$r", name="else")]}),
        when(equal("$t", "y"), note(1, "$s", name="then too"), **{"else": [note("${r}", "$s", name="else too")]}),
        note("${s}", "$r"),
    ],
    "a choice of which the condition is true no more": [
        note(1, "$t"),
        when(equal("$t", 1), {"type": "update-note", "target": "$t", "value": 2}, note("${t}", "$r")),
        note("${t}", "$u"),
    ],
    "failures": [
        note("x", "$t"),
        {**FAILS, "on_fail": [note("${error.type}", "$n", name="instead"), note("${n}!", "$n")]},
        {**FAILS, "out": "$lost", "on_fail": "continue"},
        note("${lost}", "$never", on_fail="continue"),
        tool("fall", "again", retry={"attempts": 3, "wait_s": 0}, on_fail="continue"),
        note("${n}", "$r"),
    ],
    "branches": [
        ALL,
        beside([note(1, "$p", name="one"), add("$p")], [note(2, "$q"), add("$q"), note("${q}!", "$r")]),
        beside([beside([note(3, "$s"), add("$s")], [note(4, "$v")])], [add("$r")]),
        note("${p}${q}${s}${v}", "$r"),
    ],
    "saved plans": [
        LIST,
        {"type": "plan:greet", "arguments": {"who": "you"}, "out": "$g"},
        each({"type": "plan:greet", "arguments": {"who": "$x"}, "out": "$h"}, out="$all"),
        {
            "type": "map",
            "target": "$c",
            "operation": {"type": "plan:greet", "arguments": {"who": "$item"}},
            "out": "$r",
        },
    ],
    "a map": [
        {"type": "create-collection", "value": ["1", "x", "3"], "out": "$c"},
        {"type": "map", "target": "$c", "operation": {"type": "create-note", "value": "<${item}>"}, "out": "$m"},
        {"type": "map", "target": "$c", "operation": {"type": "outside/look", "arguments": {"value": "$item"}}},
        {
            "type": "map",
            "target": "$c",
            "operation": {"type": "coerce", "coercion": "int"},
            "on_fail": [note("${error.reason}", "$r")],
            "out": "$r",
            "name": "numbers",
        },
    ],
    "calls": [
        tool("look", "sea", out="$a"),
        tool("look", "sky", out="$b"),
        tool("send", "${a}", out="$s", name="sent"),
        tool("fall", "late", out="$f", on_fail=[note("${error.reason}", "$f")]),
        tool("send", "${f}", out="$r"),
    ],
    "questions": [
        LIST,
        each({"type": "ask", "value": "and ${x}?", "out": "$y"}, note("${x}: ${y}", "$z", name="${x}"), out="$o"),
        {**FAILS, "target": "$c[0]", "on_fail": [{"type": "ask", "value": "${error.kind}?", "out": "$n"}]},
        note("${n}", "$r"),
    ],
    "a stop in a branch of a loop": [
        LIST,
        ALL,
        each(add("$x"), when(equal("$x", "b"), {"type": "stop", "value": "${x}"}), note("${x}", "$r"), out="$o"),
        note("not here", name="never"),
    ],
    "a stop in what handles an item": [
        {"type": "create-collection", "value": ["1", "x", "3"], "out": "$c"},
        {
            "type": "map",
            "target": "$c",
            "operation": {"type": "coerce", "coercion": "int"},
            "on_fail": [note("${error.reason}", "$e"), {"type": "stop", "status": "failed", "value": "$e"}],
        },
        note("not here", name="never"),
    ],
    "a stop in a saved plan of a loop": [
        LIST,
        each({"type": "plan:stops", "arguments": {"who": "$x"}, "out": "$h"}, out="$r"),
        note("${r}", name="here"),
    ],
    "a failure that nothing handles": [
        LIST,
        ALL,
        each(add("$x"), when(equal("$x", "b"), note("y", "$y", name="last"), tool("fall", "late")), out="$r"),
        note("not here", name="never"),
    ],
}
PROVE = bool(os.environ.get("INFOSPACE_PROVE"))
YIELDS = (0.0, 3_600.0)
"""Seconds after which steps let others go on: each is written by itself, or as many together as may be."""


class Killed(BaseException):
    """The process of a run is gone: nothing in it can write any more."""


class Deaths:
    """Ends all writing of a store at the write of a number; 0 for never."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at, self.count = 0, 0
        commit = SqliteStore.commit

        def counted(store: SqliteStore, changes: Sequence[Change], entries: Sequence[Any] = ()) -> None:
            self.count += 1
            if 0 < self.at <= self.count:
                raise Killed
            commit(store, changes, entries)

        monkeypatch.setattr(SqliteStore, "commit", counted)

    def begin(self, at: int) -> None:
        self.at, self.count = at, 0


class Outside:
    """A server whose calls are remembered outside of the space."""

    def __init__(self, space: Space) -> None:
        self.sent: list[str] = []
        server = LocalTools("outside")

        @server.tool(read_only=True)
        async def look(value: str) -> str:
            """Look at something."""
            return f"saw {value}"

        @server.tool(read_only=True)
        async def fall(value: str) -> str:
            """Fail."""
            raise InfospaceError(f"{value} fell")

        @server.tool()
        async def send(value: str) -> str:
            """Send a text."""
            self.sent.append(value)
            return f"sent {value}"

        space.tools.add(server)


def answers(space: Space, run: str, outside: Outside) -> None:
    """Answer all that a run waits for: a question by its text, a call in doubt by looking outside."""
    with space.store.reading() as snapshot:
        asked, known = pending_of(snapshot.steps(run)), snapshot.answers(run)
        requests = {call.position: call.request for call in snapshot.calls(run)}
    for one in asked:
        if one.answer_key in known:
            continue
        if one.kind == "doubt":
            request = requests[one.step]
            assert isinstance(request, dict)
            value = str(request["value"])
            answer(space, run, one.step, {"result": f"sent {value}"} if value in outside.sent else "repeat")
        else:
            answer(space, run, one.step, f"{one.question}!")


async def to_the_end(space: Space, document: Any, outside: Outside) -> RunResult:
    """Run a plan, or go on with its run, until it has ended; answer what it asks."""
    run = run_of(space, document)
    result = await (start(space, document) if run is None else resume(space, run))
    while result.status == "suspended":
        answers(space, str(result.run), outside)
        result = await resume(space, str(result.run))
    return result


def differences(found: Any, wanted: Any, place: str = "") -> Iterator[str]:
    """Say what is other than wanted, by place."""
    if isinstance(found, dict) and isinstance(wanted, dict) and found.keys() == wanted.keys():
        for key in wanted:
            yield from differences(found[key], wanted[key], f"{place}.{key}")
    elif isinstance(found, (list, tuple)) and isinstance(wanted, (list, tuple)) and len(found) == len(wanted):
        for at, (one, other) in enumerate(zip(found, wanted, strict=True)):
            yield from differences(one, other, f"{place}[{at}]")
    elif found != wanted:
        yield f"{place}: {found!r}, not {wanted!r}"


def rest(space: Space, document: Any, at: int) -> tuple[RunResult, list[str]]:
    """Run a plan that is told to rest when so many steps have ended; return also what began after that."""
    halt, ended = SuspendRequest(), 0
    late: list[str] = []

    def hear(event: Event) -> None:
        nonlocal ended
        if isinstance(event, StepStarted) and halt.now:
            late.append(event.position)
        ended += isinstance(event, StepFinished)
        if ended == at:
            halt.set()

    prepared = prepare(space, document)
    assert isinstance(prepared, Prepared)
    running = Run(space, prepared.plan, hear)
    running.halt = halt
    return asyncio.run(running.run(prepared.bound)), late


def run_of(space: Space, document: Any) -> str | None:
    with space.store.reading() as snapshot:
        return next((row.run for row in snapshot.runs() if row.goal == document["goal"]), None)


ID = re.compile(r"\b(?:Note|Collection|Relation)_\d+\b")


class Names:
    """Names for ids, by the order in which they are met: an id that was given for nothing is nowhere."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def of(self, identifier: str) -> str:
        kind = identifier.partition("_")[0]
        return self._names.setdefault(identifier, f"{kind} {len(self._names)}")

    def told(self, value: Any) -> Any:
        """A value of the journal, with names for the ids in it."""
        if isinstance(value, str):
            return ID.sub(lambda found: self.of(found[0]), value)
        if isinstance(value, Mapping):
            return {key: self.told(inner) for key, inner in value.items()}
        return [self.told(inner) for inner in value] if isinstance(value, list) else value


def is_certain(call: CallRow) -> bool:
    """Whether a call is in the journal of each run alike: none in doubt, which is made again, or answered about."""
    return call.status != "started" and call.target != "outside/send"


def journal(space: Space, document: Any) -> dict[str, Any]:
    """What a run left: its end, its steps and calls, and what has a name; by names instead of ids, without times."""
    run, view, named = str(run_of(space, document)), space.context(), Names()
    with space.store.reading() as snapshot:
        row, rows, calls = snapshot.run(run), snapshot.steps(run), snapshot.calls(run)
        names = {name: str(snapshot.named(name)) for name in snapshot.names()}
        gave = {one.resource: len(snapshot.versions(one.resource)) for one in rows if one.resource is not None}
    assert len({one.sequence for one in rows}) == len({one.position for one in rows}) == len(rows)
    leaves = [
        one.position
        for one in sorted(rows, key=lambda one: one.sequence)
        if not any(holds(one.position, other.position) for other in rows)
    ]
    rows = sorted(rows, key=lambda one: one.position)
    for one in rows:
        if one.resource is not None:
            named.of(one.resource)
    steps = [
        {
            "position": one.position,
            "type": one.type,
            "status": one.status,
            "attempt": one.attempt,
            "out": one.out,
            "resource": named.told(one.resource),
            "version": one.version,
            "versions": gave.get(one.resource or ""),
            "value": named.told(one.value),
            "reason": named.told(one.reason),
            "error": one.error,
            "has digest": one.digest is not None,
            "uses": sorted((named.of(use.id), use.version) for use in one.uses),
            "extra": named.told({key: value for key, value in one.extra.items() if key != "content"}),
            "data": data_of(space, one, rows),
        }
        for one in rows
    ]
    decided = {key: value for one in rows for key, value in one.frames.items() if "@clock" not in key}
    for told in decided.values():
        if isinstance(told, dict):
            told.pop("digest", None)  # it tells the ids of what was given
    return {
        "end": [row.status, named.told(row.reason), named.told(row.result), row.steps],
        "spent": {key: value for key, value in row.spent.items() if key != "seconds"},
        "steps": {one["position"]: one for one in steps},
        "order": leaves,
        "decided": named.told(decided),
        "calls": sorted((call.position, call.target, str(call.answer)) for call in calls if is_certain(call)),
        "names": {name: [view.get(one).version, str(view.content(view.get(one)))] for name, one in names.items()},
    }


def outcome(space: Space, result: RunResult) -> dict[str, Any]:
    """What a run answers, by content."""
    view = space.context()
    return {
        "status": result.status,
        "reason": Names().told(result.reason),
        "result": None if result.result is None else result.result.data,
        "bindings": {name: str(view.content(one)) for name, one in result.bindings.items()},
        "steps": [row.position for row in result.steps],
        "pending": list(result.pending),
    }


class Workshop:
    """Spaces that are copies of one, each with a run of the plan in it."""

    def __init__(self, folder: Path, empty: Path, name: str) -> None:
        self._folder, self._number = folder, 0
        self.document = {"goal": "told", "steps": PLANS[name]}
        self.which = list(PLANS).index(name)
        self.writes = 0
        """How many writes an undisturbed run makes."""
        self.fewest = 0
        """Writes that it makes at least, however those of branches come together."""
        self._origin = folder / "origin.db"
        shutil.copyfile(empty, self._origin)
        with open_space(self._origin) as space:
            steps = [note("hello ${who}", "$h"), note("${h}!", "$r")]
            inputs = {"who": {"type": "string"}}
            save_plan(space, "greet", {"inputs": inputs, "steps": steps, "result": "$r"})
            save_plan(space, "stops", {"inputs": inputs, "steps": [steps[0], {"type": "stop", "value": "$h"}]})

    @contextmanager
    def space(self) -> Iterator[tuple[Space, Outside]]:
        self._number += 1
        path = shutil.copyfile(self._origin, self._folder / f"{self._number}.db")
        with open_space(path) as space:
            yield space, Outside(space)
            assert space.store.check() == []
        path.unlink()

    def whole(self, deaths: Deaths) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """What an undisturbed run leaves and answers, and what it sends."""
        with self.space() as (space, outside):
            deaths.begin(0)
            result = asyncio.run(to_the_end(space, self.document, outside))
            self.writes = deaths.count
            has_branches = any(step["type"] == "parallel" for step in self.document["steps"])
            self.fewest = deaths.count // 2 if has_branches else deaths.count + 1
            return journal(space, self.document), outcome(space, result), outside.sent


@pytest.fixture(params=PLANS)
def workshop(request: pytest.FixtureRequest, tmp_path: Path, empty_file: Path) -> Workshop:
    """A plan, and spaces to run it in."""
    return Workshop(tmp_path, empty_file, request.param)


def chosen(count: int, which: int) -> list[int]:
    """Numbers up to a count: all of them with INFOSPACE_PROVE=1, else each third, with the last two."""
    some = {number for number in range(1, count + 1) if PROVE or (number + which) % 3 == 0}
    return sorted(some | {max(1, count - 1), count})


def went_on(space: Space, workshop: Workshop, outside: Outside) -> RunResult:
    """Go on with a run whose process is gone, once its lease is over; begin it where it never was."""
    run = run_of(space, workshop.document)
    if run is not None:
        with space.store.reading() as snapshot:
            row = snapshot.run(run)
        if row.status == "running":
            space.store.commit([], [Heartbeat(run, str(row.owner), later(-60))])
    return asyncio.run(to_the_end(space, workshop.document, outside))


def test_a_run_that_is_killed_at_any_write_comes_to_the_same_end(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the opening of the run to its end; nothing is sent twice."""
    deaths = Deaths(monkeypatch)
    for seconds in YIELDS if PROVE else YIELDS[workshop.which % 2 :][:1]:
        # Steps that only compute are written when others are let go on: how many writes there are depends on it.
        monkeypatch.setattr(running, "EVENT_LOOP_YIELD_SECONDS", seconds)
        wanted = workshop.whole(deaths)
        for at in chosen(workshop.writes, workshop.which):
            with workshop.space() as (space, outside):
                deaths.begin(at)
                killed = False
                try:
                    result = asyncio.run(to_the_end(space, workshop.document, outside))
                except Killed:
                    killed = True
                # What branches do at once is written together as it comes: how many writes there are differs by a few.
                assert killed or at >= workshop.fewest, f"not killed at write {at}"
                if killed:
                    deaths.begin(0)
                    result = went_on(space, workshop, outside)
                found = journal(space, workshop.document), outcome(space, result), outside.sent
                assert list(differences(found, wanted)) == [], f"killed at write {at}"


def test_a_run_that_rests_after_any_step_comes_to_the_same_end(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told to rest when a step has ended, and gone on with; and what it did is replayed alike.

    The step after one that only computes begins before that is written and told; in branches one of each may.
    """
    wanted = workshop.whole(Deaths(monkeypatch))
    count = len(wanted[0]["steps"])
    most = max(len(step.get("branches", [step])) for step in workshop.document["steps"])
    rested = 0
    for at in chosen(count, workshop.which):
        with workshop.space() as (space, outside):
            result, late = rest(space, workshop.document, at)
            assert len(late) <= most, f"told to rest after {at} steps, and began {late}"
            if result.status == "suspended":
                rested += 1
                result = asyncio.run(to_the_end(space, workshop.document, outside))
            found = journal(space, workshop.document), outcome(space, result), outside.sent
            assert list(differences(found, wanted)) == [], f"at rest after {at} steps"
            if at == count - 1:
                again = asyncio.run(replay(space, str(result.run)))
                assert again.difference.same, f"at rest after {at} steps: {again.difference}"
    assert rested > 0
