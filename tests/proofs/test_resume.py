"""A run that is killed at any write of its journal goes on to the end that it would have come to undisturbed.

At each commit of each plan a process is killed, once just before it and once just after; another goes on. Nothing
is done twice, nothing is lost; calls in doubt are asked about, and answered by looking outside.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from resumed import to_the_end, with_tools

from infospace import Collection, Note, Relation, Space, open_space
from planner.execute.start import run_sync
from planner.parse.saved_plans import save_plan

pytestmark = pytest.mark.usefixtures("warm_processes")

PROVE = bool(os.environ.get("INFOSPACE_PROVE"))
FEW = 20
"""One of so many moments is tried, where not all are: `test_resume_anywhere.py` tries many more, within one process."""


def note(value: Any, out: str | None = None, **fields: Any) -> dict[str, Any]:
    step = {"type": "create-note", "value": value, **fields}
    return step if out is None else {**step, "out": out}


def send(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "outside/send", "arguments": {"text": text}, **fields}


LIST = {"type": "create-collection", "value": ["a", "b", "c"], "out": "$c"}
FALSE = {"type": "coerce", "target": "$t", "coercion": "int", "out": "$n"}

PLANS: dict[str, list[Any]] = {
    "writes": [
        note({"n": 0}, "$task", name="task"),
        {"type": "update-note", "target": "$task", "value": {"n": 1}, "merge": True},
        {"type": "set-metadata", "target": "$task", "value": {"by": "me"}},
        {"type": "create-collection", "value": ["$task"], "name": "tasks", "out": "$tasks"},
        note("second", "$second"),
        {"type": "add", "target": "$tasks", "value": "$second"},
        {"type": "create-relation", "source": "$task", "target": "$second", "relation": "before", "out": "$r"},
        {"type": "persist", "target": "$r"},
        {"type": "remove", "target": "$tasks", "value": "$task"},
        {"type": "name", "target": "$second", "value": "renamed"},
    ],
    "loops": [
        LIST,
        {"type": "create-collection", "value": [], "name": "seen", "out": "$seen"},
        {
            "type": "for-each",
            "target": "$c",
            "do": [note("<${item}>", "$x"), {"type": "add", "target": "$seen", "value": "$x"}],
            "out": "$all",
        },
        {"type": "size", "target": "$seen", "out": "$n"},
        {
            "type": "while",
            "condition": {"type": "less_than", "target": "$n", "value": 6},
            "body": [
                note("more ${n}", "$m"),
                {"type": "add", "target": "$seen", "value": "$m"},
                {"type": "size", "target": "$seen", "out": "$n"},
            ],
        },
        {"type": "for-each", "target": "$seen", "do": [{"type": "add", "target": "$seen", "value": "$c"}]},
        note("${n}", name="count"),
    ],
    "branches": [
        note("x", "$t"),
        {**FALSE, "on_fail": [note(0, "$n", name="instead"), {"type": "say", "value": "${error.reason}"}]},
        {
            "type": "if",
            "condition": {"type": "equals", "target": "$n", "value": 0},
            "then": [note("none", "$w", name="word"), {"type": "update-note", "target": "$w", "value": "nothing"}],
            "else": [note("some", name="word")],
        },
        {**FALSE, "out": "$lost", "on_fail": "continue"},
        note("${lost}", name="never"),
        {
            "type": "parallel",
            "branches": [[note(1, "$p", name="one")], [note(2, "$q", name="two"), note("${q}!", name="three")]],
        },
        {"type": "plan:greet", "arguments": {"who": "${p}${q}"}, "name": "greeting", "out": "$g"},
        {"type": "stop", "value": "$g"},
    ],
    "nested": [
        {"type": "create-collection", "value": [["1", "x"], ["2"], ["3", "y", "4"]], "out": "$rows"},
        {"type": "create-collection", "value": [], "name": "sums", "out": "$sums"},
        {
            "type": "for-each",
            "target": "$rows",
            "as": "$row",
            "do": [
                {"type": "split", "target": "$row", "out": "$cells"},
                {
                    "type": "for-each",
                    "target": "$cells",
                    "do": [
                        {
                            "type": "coerce",
                            "target": "$item",
                            "coercion": "int",
                            "out": "$n",
                            "on_fail": [note(0, "$n"), {"type": "add", "target": "$sums", "value": "$error"}],
                        },
                        {"type": "add", "target": "$sums", "value": "$n"},
                    ],
                    "collect": "$n",
                    "out": "$numbers",
                },
                {
                    "type": "if",
                    "condition": {"type": "contains", "target": "$numbers", "value": 2},
                    "then": [note("two", "$two", name="two"), {"type": "plan:greet", "arguments": {"who": "two"}}],
                },
            ],
            "collect": "$numbers",
            "out": "$table",
        },
        {"type": "map", "target": "$table", "operation": "size", "out": "$sizes", "name": "sizes"},
        {
            "type": "for-each",
            "target": "$sizes",
            "do": [note("x", "$t"), FALSE],
            "on_fail": [note("instead of ${item}", "$n"), {"type": "add", "target": "$sums", "value": "$n"}],
            "out": "$all",
        },
        {"type": "persist", "target": "$all", "name": "all"},
    ],
    "sides": [
        LIST,
        {
            "type": "map",
            "target": "$c",
            "operation": {"type": "outside/look", "arguments": {"name": "$item"}},
            "out": "$m",
        },
        {
            "type": "for-each",
            "target": "$c",
            "do": [{"type": "outside/look", "arguments": {"name": "${item}!"}, "out": "$v"}],
            "out": "$e",
        },
        {"type": "union", "target": "$m", "value": "$e", "name": "seen", "out": "$u"},
        {"type": "size", "target": "$u", "out": "$n"},
        {"type": "plan:greet", "arguments": {"who": "${n}"}, "out": "$g"},
        {"type": "parallel", "branches": [[note("${g}1", name="g1")], [note("${g}2", name="g2")]]},
    ],
    "calls": [
        {"type": "outside/look", "arguments": {"name": "sea"}, "out": "$a"},
        {"type": "outside/look", "arguments": {"name": "sky"}, "out": "$b"},
        send("first ${a}".replace("${a}", "letter"), name="sent once"),
        {"type": "ask", "value": "send another?", "schema": {"enum": ["yes", "no"]}, "out": "$yes"},
        send("second letter", out="$s"),
        {**FALSE, "target": "$a", "on_fail": "continue", "out": "$z"},
        note("${a} ${b} ${s}", name="end"),
    ],
    "approvals": [
        {"type": "outside/drop", "arguments": {"text": "first"}, "name": "dropped"},
        note("between", "$n"),
        {"type": "outside/drop", "arguments": {"text": "second"}, "out": "$s"},
        LIST,
        {
            "type": "map",
            "target": "$c",
            "operation": {"type": "outside/look", "arguments": {"name": "$item"}},
            "out": "$m",
        },
        {"type": "outside/drop", "arguments": {"text": "third"}},
        note("${n} ${s}", name="end"),
    ],
}


def state(space: Space) -> Any:
    """All that is kept, told by content and not by id."""

    def told(identifier: str, depth: int = 0) -> Any:
        resource = view.get(identifier)
        match resource:
            case Note():
                return [resource.content, dict(resource.metadata), resource.version]
            case Collection():
                return [[told(member.id, depth + 1) for member in resource.members] if depth < 3 else "…"]
            case Relation():
                return [told(resource.source, 3), told(resource.target, 3), resource.relation]

    view = space.context()
    with space.store.reading() as snapshot:
        names = {name: snapshot.named(name) for name in snapshot.names()}
        relations = snapshot.relations(relation="before")
        [run] = [row for row in snapshot.runs() if row.kind == "plan" and row.goal == "proof"]
        steps = [(row.position, row.status, row.reason) for row in snapshot.steps(run.run)]
    kept = {name: told(str(identifier)) for name, identifier in names.items()}
    return kept, sorted(str(told(one)) for one in relations), run.status, sorted(steps, key=str)


def furnished(folder: Path) -> Path:
    """A space with a saved plan in it, to be copied."""
    path = folder / "origin.db"
    with open_space(path) as space:
        steps = [note("hello ${who}", "$h", name="said"), note("${h}!", "$r")]
        save_plan(space, "greet", {"inputs": {"who": {"type": "string"}}, "steps": steps, "result": "$r"})
        assert run_sync(space, [note("before")]).status == "success"
    return path


def perform(path: Path, plan: Path, number: int, when: str) -> subprocess.CompletedProcess[str]:
    script = Path(__file__).with_name("resumed.py")
    command = [sys.executable, str(script), str(path), str(plan), str(number), when]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=90)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_a_run_killed_at_any_write_comes_to_the_same_end(tmp_path: Path, name: str) -> None:
    """State, status and steps are those of a run that nobody killed; what was sent was sent once."""
    document = {"goal": "proof", "steps": PLANS[name]}
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(document), encoding="utf-8")
    origin = furnished(tmp_path)
    whole = shutil.copy(origin, tmp_path / "whole.db")
    done = perform(Path(whole), plan, 0, "after")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    with open_space(whole) as space:
        wanted = state(space)
    moments = [(number, when) for number in range(1, told["commits"] + 1) for when in ("before", "after")]
    if not PROVE:
        moments = random.Random(name).sample(moments, max(3, len(moments) // FEW))  # noqa: S311 - not for secrets
    for number, when in moments:
        path = Path(shutil.copy(origin, tmp_path / f"{number}-{when}.db"))
        killed = perform(path, plan, number, when)
        assert killed.returncode == -9, (number, when, killed.stderr)
        log = path.with_suffix(".log")
        with open_space(path) as space:
            with_tools(space, log)
            asyncio.run(to_the_end(space, document, log))
            assert space.store.check() == [], (number, when)
            assert state(space) == wanted, (number, when)
        sent = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        assert len(sent) == len(set(sent)), (number, when, sent)
    print(f"{name}: {len(moments)} kills over {told['commits']} commits")
