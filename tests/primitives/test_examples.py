"""Every example of every primitive runs, and every primitive is a file with a whole contract."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint

import primitives
from infospace import Primitive, Space
from infospace.contract.catalogue import installed
from infospace.tools.local import LocalTools

sys.path.insert(0, str(Path(__file__).parents[1] / "planner"))
sys.path.insert(0, str(Path(__file__).parents[1] / "infospace" / "tools"))
from furnished import files
from served import synced, write

NOTE = {"type": "create-note", "value": {"title": "Any", "metadata": {"title": "Any"}}}
HITS = {"type": "discover-notes", "query": "a sleepy cat", "limit": "all", "threshold": -1}
VARIABLES: dict[str, list[dict[str, Any]]] = {
    "a": [NOTE],
    "answer": [{"type": "create-note", "value": {"items": ["One", {"n": 2}]}}],
    "answer_text": [{"type": "create-note", "value": '{"score": 0.5}'}],
    "b": [NOTE],
    "customers": [{"type": "create-collection", "value": [{"customer": "Ada", "city": "Rome"}]}],
    "decision": [NOTE],
    "finder": [{"type": "create-note", "value": {"metadata": {"tool": "web/search"}}}],
    "goals": [{"type": "create-collection", "value": [{"area": {"code": "north"}, "goal": 5}]}],
    "groups": [
        {"type": "create-collection", "value": [1, 2], "out": "$group"},
        {"type": "create-collection", "value": ["$group", "$group"]},
    ],
    "hit": [{"type": "create-note", "value": {"metadata": {"tool": "files/read"}}}],
    "hits": [HITS],
    "jobs": [{"type": "create-collection", "value": [{"title": "Paint", "owner": 1}]}],
    "least": [{"type": "create-note", "value": 2}],
    "line": [{"type": "create-note", "value": "one; two"}],
    "most": [{"type": "create-note", "value": 2}],
    "n": [{"type": "create-note", "value": 4}],
    "notes": [
        {"type": "create-note", "value": "text", "metadata": {"tags": ["red", "blue"]}, "out": "$tagged"},
        {"type": "create-collection", "value": ["$tagged"]},
    ],
    "orders": [
        {
            "type": "create-collection",
            "value": [
                {"person": "Ada", "items": [{"price": 3}], "price": 1.5, "quantity": 2, "day": "2026-11-23"},
                {"person": "Bob"},
            ],
        }
    ],
    "people": [{"type": "create-collection", "value": [{"id": 1, "name": "Ada"}]}],
    "reply": [{"type": "create-note", "value": " 42\n"}],
    "sales": [
        {
            "type": "create-collection",
            "value": [
                {"region": "north", "year": 2024, "day": "2024-05-01", "price": 3, "amount": 2.5, "customer": "Ada"}
            ],
        }
    ],
    "spent": [{"type": "create-note", "value": 12.5}],
    "sorted": [{"type": "create-collection", "value": list(range(5))}],
    "status": [NOTE],
    "summary": [NOTE],
    "tags": [{"type": "create-collection", "value": ["Two", "Three"]}],
    "task": [{"type": "create-note", "value": {"due": "2026-12-01"}}],
    "tasks": [{"type": "create-collection", "value": [{"priority": 2, "title": "May"}, {"priority": 1}]}],
    "text": [{"type": "create-note", "value": "One sentence; in two parts. Another."}],
    "titles": [{"type": "create-collection", "value": ["One", "Two"]}],
}
"""What makes something sensible for each variable that an example reads; the last step binds it."""

NAMES: dict[str, list[dict[str, Any]]] = {
    "reading list": [{"type": "create-collection", "value": ["One"], "name": "reading list"}],
}
"""What makes something for each name that an example reads."""


def web() -> LocalTools:
    """Return a server whose one tool finds something."""
    server = LocalTools("web")

    @server.tool(read_only=True)
    def search(query: str) -> dict[str, Any]:
        """Search the web."""
        return {"results": [{"snippet": query, "url": "https://example.org/", "title": "Tea"}]}

    return server


ENTRIES = list(installed())
EXAMPLES = [(entry, dict(example)) for entry in ENTRIES for example in entry.examples]


def test_every_file_holds_the_one_primitive_that_it_is_named_for() -> None:
    """`ls primitives/` is the vocabulary."""
    files = [found.name for found in pkgutil.iter_modules(primitives.__path__)]
    for name in files:
        module = importlib.import_module(f"primitives.{name}")
        held = [value for value in vars(module).values() if isinstance(value, Primitive)]
        assert [(entry.type, entry.call.__name__) for entry in held] == [(name.replace("_", "-"), name)]
    ours = [entry.type for entry in ENTRIES if entry.provider == "infospace"]
    assert sorted(ours) == sorted(name.replace("_", "-") for name in files)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.type)
def test_every_primitive_has_a_whole_contract(entry: Primitive) -> None:
    """A summary of one sentence, examples, what to avoid, and a sentence for each argument."""
    assert re.fullmatch(r"[A-Z].*\.", entry.summary)
    assert len(entry.summary) <= 120
    assert entry.examples
    assert entry.avoid
    for argument in entry.arguments.values():
        assert argument.description.endswith("."), f"{entry.type}.{argument.name} is not described"
    for text in (*entry.avoid, *entry.failures):
        assert text.endswith(".")


@pytest.mark.parametrize(
    ("entry", "example"), EXAMPLES, ids=[f"{entry.type}-{len(json.dumps(example))}" for entry, example in EXAMPLES]
)
def test_every_example_runs(
    search: Any, found: Space, endpoint: Endpoint, entry: Primitive, example: dict[str, Any]
) -> None:
    """It passes the check and succeeds where its variables are bound to something sensible.

    The language model is an endpoint on loopback, whose answers fit what was asked for.
    """
    if entry.type == "write-plan":
        endpoint.say('{"steps": [{"type": "say", "value": "done"}]}')
    found.tools.add(files())
    found.tools.add(web())
    if entry.type in ("get-prompt", "read-resource"):
        own = {"command": sys.executable, "args": ["-m", "tui.command", "--space", found.store.address, "serve"]}
        synced(found, mcp=write(Path(found.store.address).parent, planner=own))
    steps = NAMES.get(str(example.get("target")), [])
    for name in dict.fromkeys(re.findall(r"\$\{?([A-Za-z_]\w*)", json.dumps({**example, "out": None}))):
        *before, last = VARIABLES[name]
        steps = [*steps, *before, {**last, "out": f"${name}"}]
    ran = search(*steps, example)
    assert not [problem for problem in ran.result.problems if problem.severity == "error"]
    assert (ran.last.type, ran.last.status) == (entry.type, "success")
    if "out" in example:
        assert ran.resource(str(example["out"]).removeprefix("$")).kind in {"Note", "Collection", "Relation"}
