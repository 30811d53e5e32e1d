"""The turns of a goal's run, as the journal has them: what the model wrote, and what came of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from infospace.core.errors import NotFound
from infospace.core.json_types import JSON
from infospace.core.position import first_attempt, top_label
from infospace.core.resources import Note
from infospace.data.json_text import dump
from infospace.data.result import truncate
from infospace.journal.forks import parents
from infospace.journal.rows import RunRow, StepRow
from infospace.space import Space
from planner.sessions.lines import ANSWER, INPUT, PLAN, plan_of_session

PREVIEW = 300
"""Characters of the value or reason of a recent step that the model sees."""
SHORT_PREVIEW = 80
"""Characters of that of an earlier step."""
RECENT = 4
"""Steps that are shown at length."""
MAX_PROGRESS = 6_000
"""Characters of all that is told of the steps that were done; the earliest are left out first."""
_UNTOLD = ("id", "expect", "out")
"""Fields of a step that do not change what it does."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A plan, or a step, that the model wrote. `document` is None where it wrote none that passes the check."""

    run: str
    """The run in which it was written, the goal's own or one that this was forked from."""
    document: JSON
    lines: Mapping[str, JSON]
    """The lines that were run of it, by position."""
    rows: tuple[StepRow, ...]
    """Their executions, nested ones too, as they ended."""

    @property
    def was_run(self) -> bool:
        """Whether its steps were begun."""
        return bool(self.lines)

    @property
    def failure(self) -> StepRow | None:
        """The step on which it ended, None where it ended well."""
        outer = [row for row in self.rows if _is_outer(row) and row.status != "skipped"]
        last = outer[-1] if outer else None
        if last is None or last.status != "failed":
            return None
        line = self.lines.get(first_attempt(last.position))
        handled = isinstance(line, Mapping) and line.get("on_fail", "stop") != "stop"
        return None if handled else last

    def failed_line(self) -> JSON:
        """Return the step on which it ended, as it was written; None where it ended well."""
        failure = self.failure
        return None if failure is None else self.lines.get(first_attempt(failure.position))


def turns_of(space: Space, run: str) -> list[Turn]:
    """Return the turns of a run, in their order, after those of the runs that it was forked from."""
    with space.store.reading() as snapshot:
        runs = [run, *parents(snapshot, run)]
        read = [(snapshot.run(one), sorted(snapshot.steps(one), key=lambda row: row.sequence)) for one in runs]
    turns: list[Turn] = []
    for row, rows in reversed(read):
        ended: dict[str, list[StepRow]] = {}
        for one in rows:
            if one.status != "suspended":
                ended.setdefault(top_label(one.position), []).append(one)
        taken_over = {label for label, inner in ended.items() if any("forked" in one.extra for one in inner)}
        turns += _turns(space, row, ended, taken_over if turns else set())
    return turns


def _turns(space: Space, row: RunRow, ended: Mapping[str, Sequence[StepRow]], used: Collection[str]) -> Iterator[Turn]:
    """Give the turns of one run, without those that it has `used` from the run before, by their lines."""
    value: list[JSON] = row.document.get("steps", []) if isinstance(row.document, dict) else []
    document: JSON = None
    lines: dict[str, JSON] = {}
    begun = False
    for step, line in zip(plan_of_session(row).steps, value, strict=True):
        if step.label in used:
            continue
        if step.expect != PLAN:
            lines[step.label] = line
            continue
        if begun:
            yield Turn(row.run, document, lines, _rows(lines, ended))
        document, lines, begun = _document(space, ended.get(step.label, ())), {}, True
    if begun:
        yield Turn(row.run, document, lines, _rows(lines, ended))


def _rows(lines: Mapping[str, JSON], ended: Mapping[str, Sequence[StepRow]]) -> tuple[StepRow, ...]:
    return tuple(row for label in lines for row in ended.get(label, ()))


def _document(space: Space, rows: Sequence[StepRow]) -> JSON:
    if not rows or rows[-1].status != "success" or rows[-1].resource is None:
        return None
    try:
        resource = space.context().get(rows[-1].resource)
    except NotFound:
        return None
    return resource.content if isinstance(resource, Note) else None


def _is_outer(row: StepRow) -> bool:
    return not any(sign in row.position for sign in ".[/")


def same_text(document: JSON) -> str:
    """Return a text that two plans, or two steps, have in common that do the same in the same words."""
    steps = document.get("steps") if isinstance(document, Mapping) else None
    if isinstance(document, Mapping) and isinstance(steps, list):
        head = {key: document.get(key) for key in ("inputs", "result")}
        return dump([head, [_bare(step) for step in steps]])
    return dump(_bare(document))


def _bare(step: JSON) -> JSON:
    if not isinstance(step, Mapping):
        return step
    return {key: value for key, value in sorted(step.items()) if key not in _UNTOLD}


def progress_of(turns: Sequence[Turn]) -> str:
    """Say what the steps of a run did, by previews, for the model that goes on from there; "" where none was begun."""
    rows_and_lines: list[tuple[StepRow, JSON]] = []
    for turn in turns:
        rows_and_lines += [
            (row, line)
            for row in turn.rows
            if (line := turn.lines.get(first_attempt(row.position))) is not None and not _is_frame(line)
        ]
    if not rows_and_lines:
        return ""
    lines: list[str] = []
    left = MAX_PROGRESS
    for number, (row, line) in enumerate(reversed(rows_and_lines)):
        text = _result_text(row, line, PREVIEW if number < RECENT else SHORT_PREVIEW)
        left -= len(text) + 1
        if left < 0:
            lines.append(f"({len(rows_and_lines) - number} earlier steps are left out)")
            break
        lines.append(text)
    lines.reverse()
    failure = turns[-1].failure
    if failure is not None:
        lines.append(f"The last plan failed at step {failure.position}: {truncate(failure.reason or '', PREVIEW)}")
    lines.append("Nothing of it is done again. A result is read by its variable.")
    return "\n".join(lines)


def _is_frame(line: JSON) -> bool:
    """Whether a line binds an input or answers, and was not written by the model."""
    return isinstance(line, Mapping) and line.get("expect") in (INPUT, ANSWER)


def _result_text(row: StepRow, line: JSON, room: int) -> str:
    bound = f" gave {row.resource}, bound as ${row.out}" if row.resource and row.out else ""
    arguments = ""
    if isinstance(line, Mapping):
        arguments = " " + truncate(
            dump({key: value for key, value in line.items() if key not in (*_UNTOLD, "type")}), room
        )
    return f"step {row.position} {row.type}{arguments}: {row.status}{bound}: {truncate(row.reason or row.value, room)}"
