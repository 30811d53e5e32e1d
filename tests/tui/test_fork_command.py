"""`fork` as a command."""

from __future__ import annotations

import json
from typing import Any

STEPS = [
    {"type": "create-note", "value": {"n": 1}, "out": "$c"},
    {"type": "create-collection", "value": ["$c", "x"], "out": "$all"},
    {"type": "create-note", "value": "n is ${c.n}", "out": "$said"},
]


def test_the_command_forks(cli: Any) -> None:
    """With a patch as JSON; wrong ones are told in a sentence."""
    cli("run", "-", stdin=json.dumps(STEPS))
    patch = json.dumps([{"op": "replace", "path": "/2/value", "value": "again ${c.n}"}])
    done = cli("fork", "run_1", "3", patch, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["bindings"]["said"]["kind"] == "Note"
    wrong = cli("fork", "run_1", "3", "[3]")
    assert wrong.code == 2
    assert "no list of operations" in wrong.err
