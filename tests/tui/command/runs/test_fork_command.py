"""`fork` as a command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from infospace import open_space

STEPS = [
    {"type": "create-note", "value": {"n": 1}, "out": "$c"},
    {"type": "create-collection", "value": ["$c", "x"], "out": "$all"},
    {"type": "create-note", "value": "n is ${c.n}", "out": "$said"},
]


def test_the_command_forks(cli: Any) -> None:
    """With a patch as JSON; wrong ones are told in a sentence. Without a patch the plan is as it was."""
    cli("run", "-", stdin=json.dumps(STEPS))
    patch = json.dumps([{"op": "replace", "path": "/2/value", "value": "again ${c.n}"}])
    done = cli("fork", "run_1", "3", patch, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["bindings"]["said"]["kind"] == "Note"
    assert all("data" not in step for step in done.json["steps"])
    again = cli("fork", "run_1", "3", "--json", "--data", "--approve", "files/write")
    assert [step["data"] for step in again.json["steps"]][-1:] == ["n is 1"]
    with open_space("space.db") as space, space.store.reading() as snapshot:
        approved = [[one.tool for one in snapshot.approvals(run)] for run in ("run_2", "run_3")]
    assert approved == [[], ["files/write"]]
    wrong = cli("fork", "run_1", "3", "[3]")
    assert wrong.code == 2
    assert "not a list of operations" in wrong.err


def test_ctrl_c_once_leaves_a_fork_that_can_be_resumed(tmp_path: Path) -> None:
    """As with `run`: exit code 130, the steps under way end, and nothing is cancelled."""
    steps = [{"type": "create-note", "value": 1}, {"type": "say", "value": "now"}, {"type": "wait", "seconds": 0.01}]
    (tmp_path / "plan.json").write_text(json.dumps(steps), encoding="utf-8")
    patch = json.dumps([{"op": "replace", "path": "/2/seconds", "value": 50}])
    environment = {**os.environ, "INFOSPACE_SPACE": str(tmp_path / "space.db")}
    command = [sys.executable, "-c", "from tui.command import main; raise SystemExit(main())"]
    subprocess.run([*command, "run", str(tmp_path / "plan.json")], capture_output=True, env=environment, check=True)
    with subprocess.Popen(
        [*command, "fork", "run_1", "2", patch], stderr=subprocess.PIPE, text=True, env=environment
    ) as forking:
        assert forking.stderr is not None
        while "now" not in forking.stderr.readline():
            pass
        forking.send_signal(signal.SIGINT)
        rest = forking.stderr.read()
    assert forking.returncode == 130
    assert "infospace resume run_2" in rest
    shown = subprocess.run(
        [*command, "show", "run_2", "--json"], capture_output=True, text=True, env=environment, check=True
    )
    assert json.loads(shown.stdout)["status"] == "suspended"
