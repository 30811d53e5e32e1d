"""Characters through a planner's context: twelve tasks over real servers, tool by tool and planned."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from figures import NOT_INSTALLED, NOT_MEASURED, Cell, Table, figure

from context import on_paper, one_by_one, planned, searched
from context.conversation import FIXED, Conversation, sent, together
from context.hosts import DOORS, Host, Listed, hosting
from context.planned import Planned, Task, read_task
from context.right import RIGHT
from context.searched import FORMS, Form, Searched
from context.workplace import Workplace, begin_job, furnish

sys.path.insert(0, str(Path(__file__).parents[2]))
from nodeservers import install

BY_TOOLS, PLANNED, RATIO, MORE = "tool by tool", "planned", "ratio", ""
FEW, FEW_RATIO, WHOLE_RATIO = "its servers' tools alone", "ratio of that", "ratio, with output schemas"
ON_PAPER = "code execution, on paper"
CEILING = "ratio if the plan were empty"
CHARACTERS, LISTED = "characters", "all that `tools/list` says"
"""Columns."""
SMALL_TASKS = ("zones", "weather", "watch", "team")
"""Those whose tools answer little."""
LOSES = "planned is MORE"
RIGHT_ANSWER, AT_ONCE, SECONDS = "right", "tools found at once", f"{PLANNED}, seconds"
WATCHED = "watch"
"""The task that needs a job to be watched."""
APART, TOGETHER, ALL = "all, in conversations of their own", "all, in one conversation", "all"
"""Rows."""


@dataclass(frozen=True)
class Done:
    """A task done both ways, with the same right answer."""

    task: Task
    by_tools: Conversation
    by_plan: Conversation
    seconds: tuple[float, float] = (0.0, 0.0)
    """What the calls took, tool by tool and planned; a model's own time is not in it."""
    rephrased: Sequence[tuple[Planned, float]] = ()
    """The same in the other words of the task, planned, with the seconds that the calls took."""
    searched: Mapping[str, tuple[Searched, float]] = field(default_factory=dict)
    """The same through FastMCP's search for tools, by the form of what it finds; none where it is not installed."""


@dataclass(frozen=True)
class Measured:
    """What was done, and the tools of all servers; those of `infospace` are its doors."""

    tasks: Sequence[Done]
    tools: Mapping[str, Mapping[str, Listed]]
    doors: Sequence[Listed]
    """The doors through which tasks are planned."""

    @property
    def others(self) -> list[Listed]:
        """The tools that are no doors."""
        return [tool for name, tools in self.tools.items() if name != DOORS for tool in tools.values()]


def run(folder: Path) -> dict[str, Table]:
    """Do the tasks, and return the tables. Raises RuntimeError where an answer is not right."""
    for one in (folder / "ada", folder / "node"):
        one.mkdir(parents=True)
    return tables(asyncio.run(both_ways(furnish(folder / "ada", _node(folder / "node")))))


def _node(folder: Path) -> Path | None:
    try:
        return install(folder)
    except (OSError, subprocess.CalledProcessError):
        return None


async def both_ways(place: Workplace) -> Measured:
    """Do each task that the servers allow for both ways. Raises RuntimeError where an answer is not right."""
    async with hosting(place) as host:
        done = await both_ways_at(host)
    if isinstance(done, RuntimeError):
        raise done
    return done


async def both_ways_at(host: Host) -> Measured | RuntimeError:
    """Do the same with servers that run; what went wrong is returned, see `_all_tasks`."""
    done = await _all_tasks(host)
    return done if isinstance(done, RuntimeError) else Measured(done, host.tools, [*host.doors.values()])


async def _all_tasks(host: Host) -> list[Done] | RuntimeError:
    """Do the tasks. What went wrong is returned: raised among the connections it would come out as groups of groups."""
    try:
        tasks = [task for task in map(read_task, one_by_one.TASKS) if task.servers <= {*host.place.servers, DOORS}]
        return [await _both(host, task) for task in tasks]
    except RuntimeError as error:
        return error


async def _both(host: Host, task: Task) -> Done:
    _prepare(host.place, task)
    began = time.perf_counter()
    by_tools, answer = await one_by_one.solve(host, task.name, task.request)
    one = time.perf_counter() - began
    seen_right(host.place, task, BY_TOOLS, answer)
    by_plan, other = await _planned(host, task)
    rephrased = [await _planned(host, again, task.search) for again in task.rephrased()]
    found = {form: await _searched(host, task, form) for form in FORMS if host.searched}
    return Done(task, by_tools, by_plan.talk, (one, other), rephrased, found)


async def _searched(host: Host, task: Task, form: Form) -> tuple[Searched, float]:
    _prepare(host.place, task)
    began = time.perf_counter()
    done = await searched.solve(host, task, form)
    taken = time.perf_counter() - began
    seen_right(host.place, task, searched.server_of(form), done.answer)
    return done, taken


async def _planned(host: Host, task: Task, others: Sequence[str] = ()) -> tuple[Planned, float]:
    _prepare(host.place, task)
    began = time.perf_counter()
    done = await planned.solve(host, task, others)
    taken = time.perf_counter() - began
    seen_right(host.place, task, PLANNED, done.answer)
    return done, taken


def _prepare(place: Workplace, task: Task) -> None:
    if task.name == WATCHED:
        begin_job(place.folder)


def seen_right(place: Workplace, task: Task, way: str, answer: Any) -> None:
    """Raise RuntimeError for an answer that is not right."""
    right = RIGHT[task.name](place)
    if answer != right:
        raise RuntimeError(f"{task.name}, {way}: {answer!r}, and right is {right!r}")


def tables(measured: Measured) -> dict[str, Table]:
    """Return the tables: each character once, the tasks alone, sent for each turn, and what it is made of."""
    once = _table(measured, lambda talk: talk.once, {APART: _apart, TOGETHER: together})
    _add_other_tools(once, measured)
    return {
        "context": once,
        "context of the tasks alone": _table(measured, lambda talk: talk.once - talk.fixed, {ALL: _alone}),
        "context sent each turn": _table(measured, lambda talk: sent([talk]), {APART: _sent_apart, TOGETHER: sent}),
        "context in parts": _parts(measured),
        "context in turns": _turns(measured),
        "context in other words": _rephrased(measured),
        "context by other ways": _other_ways(measured),
    }


def _turns(measured: Measured) -> Table:
    """The turns of the model, the last of which is its answer; and the seconds that the calls took.

    The first planned run of a server's tool starts that server, and the first search loads the model. Tool by tool
    all servers were started before; so the second time is what compares with it.
    """
    return {
        done.task.name: {
            BY_TOOLS: len(done.by_tools.turns),
            PLANNED: len(done.by_plan.turns),
            f"{BY_TOOLS}, seconds": done.seconds[0],
            f"{PLANNED}, seconds at first": done.seconds[1],
            f"{PLANNED} again, seconds": min((taken for _, taken in done.rephrased), default=NOT_MEASURED),
        }
        for done in measured.tasks
    }


def _rephrased(measured: Measured) -> Table:
    """Each task in its first words (1) and in others: whether they find its tools at once, characters and seconds."""
    table: Table = {}
    for done in measured.tasks:
        rows = [(done.by_plan, True, done.seconds[1])]
        rows += [(each.talk, each.found_at_once, taken) for each, taken in done.rephrased]
        for number, (talk, found, taken) in enumerate(rows, start=1):
            by_tools = done.by_tools.once - done.by_tools.parts["request"] + talk.parts["request"]
            row = _row(by_tools, talk.once)
            table[f"{done.task.name}, {number}"] = {RIGHT_ANSWER: "yes", AT_ONCE: _yes(found), **row, SECONDS: taken}
    every = [each for done in measured.tasks for each, _ in done.rephrased]
    table[ALL] = {RIGHT_ANSWER: "yes", AT_ONCE: f"{sum(each.found_at_once for each in every)} of {len(every)} others"}
    return table


def _other_ways(measured: Measured) -> Table:
    """The same tasks by other ways: characters each once, how many times those of the plan, and seconds."""
    table: Table = {}
    for done in measured.tasks:
        paper = on_paper.characters(done.task, done.by_plan)
        row: dict[str, Cell] = {
            PLANNED: done.by_plan.once,
            ON_PAPER: paper,
            f"{ON_PAPER} : planned": paper / done.by_plan.once,
        }
        for form in FORMS:
            if form not in done.searched:
                row[searched.server_of(form)] = NOT_INSTALLED
                continue
            through, taken = done.searched[form]
            row |= {
                searched.server_of(form): through.talk.once,
                f"{form} : planned": through.talk.once / figure(row[PLANNED]),
            }
            row |= {f"{form}: tools found": through.found, f"{form}: seconds": taken}
        table[done.task.name] = row
    for name, sum_of in ((APART, _apart), (TOGETHER, together)):
        row = {PLANNED: sum_of([done.by_plan for done in measured.tasks])}
        papers = [on_paper.characters(done.task, done.by_plan) for done in measured.tasks]
        paper = sum(papers) - (len(on_paper.RUNNER) * (len(papers) - 1) if name == TOGETHER else 0)
        row |= {ON_PAPER: paper, f"{ON_PAPER} : planned": paper / figure(row[PLANNED])}
        for form in FORMS if all(done.searched for done in measured.tasks) else ():
            every = sum_of([done.searched[form][0].talk for done in measured.tasks])
            row |= {searched.server_of(form): every, f"{form} : planned": every / figure(row[PLANNED])}
        table[name] = row
    return table


def _yes(it_is: bool) -> str:
    return "yes" if it_is else "no"


Sum: TypeAlias = Callable[[Sequence[Conversation]], int]


def _apart(talks: Sequence[Conversation]) -> int:
    return sum(talk.once for talk in talks)


def _alone(talks: Sequence[Conversation]) -> int:
    return sum(talk.once - talk.fixed for talk in talks)


def _sent_apart(talks: Sequence[Conversation]) -> int:
    return sum(sent([talk]) for talk in talks)


def _table(measured: Measured, each: Callable[[Conversation], int], sums: Mapping[str, Sum]) -> Table:
    found: Table = {name: {BY_TOOLS: NOT_INSTALLED} for name in one_by_one.TASKS}
    found |= {done.task.name: _row(each(done.by_tools), each(done.by_plan)) for done in measured.tasks}
    for name, joined in sums.items():
        by_tools = joined([done.by_tools for done in measured.tasks])
        found[name] = _row(by_tools, joined([done.by_plan for done in measured.tasks]))
    return found


def _row(by_tools: int, by_plan: int) -> dict[str, Cell]:
    ratio = by_tools / by_plan
    return {BY_TOOLS: by_tools, PLANNED: by_plan, RATIO: ratio, MORE: LOSES if ratio < 1 else ""}


def _add_other_tools(table: Table, measured: Measured) -> None:
    """Say what it is where only the servers of a task are connected, and where models are given output schemas too."""
    more_tools, more_doors = (
        sum(len(tool.whole) - len(tool.given) for tool in of) for of in (measured.others, measured.doors)
    )
    for done in measured.tasks:
        by_tools, by_plan = done.by_tools, done.by_plan
        own = [tool for name in done.task.servers for tool in one_by_one.tools_of(measured.tools, name)]
        few = by_tools.once - by_tools.fixed + sum(len(tool.given) for tool in own)
        whole = (by_tools.once + more_tools) / (by_plan.once + more_doors)
        # Of a task whose tools answer little there is not so much to spare: no plan at all would still need the doors.
        ceiling = by_tools.once / by_plan.fixed
        table[done.task.name] |= {FEW: few, FEW_RATIO: few / by_plan.once, WHOLE_RATIO: whole, CEILING: ceiling}


def _parts(measured: Measured) -> Table:
    """What stands in the context whatever the task, and what else passes through it."""
    others, doors = measured.others, measured.doors
    language = measured.tasks[0].by_plan.parts["language"]
    given, held = (sum(len(tool.given) for tool in of) for of in (others, doors))
    found: Table = {
        f"{len(others)} tools of {len(measured.tools) - 1} servers": _sizes(others),
        f"{len(doors)} doors of infospace": _sizes(doors),
        "the language on its page": {CHARACTERS: language},
        "so many such tools weigh as much as doors and language": {CHARACTERS: (held + language) * len(others) / given},
    }
    for name, talks in (
        (BY_TOOLS, [done.by_tools for done in measured.tasks]),
        (PLANNED, [done.by_plan for done in measured.tasks]),
    ):
        for part in dict.fromkeys(part for talk in talks for part in talk.parts if part not in FIXED):
            found[f"{name}: {part}"] = {CHARACTERS: sum(talk.parts[part] for talk in talks)}
    return found


def _sizes(tools: Sequence[Listed]) -> dict[str, Cell]:
    return {CHARACTERS: sum(len(tool.given) for tool in tools), LISTED: sum(len(tool.whole) for tool in tools)}
