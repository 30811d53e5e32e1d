"""Steps that only compute are written together: killed at any moment, nothing that anybody was told of is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from databases import place_in_database

from infospace import open_space

sys.path.insert(0, str(Path(__file__).parent))
from computed_and_killed import COMPUTED, ROUNDS

RUNS = 60 if os.environ.get("INFOSPACE_PROVE") else 2
KILLS = 6

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no SIGKILL here"),
    pytest.mark.usefixtures("warm_processes"),
]


@pytest.mark.parametrize("store", ["file", "database"])
def test_what_was_told_or_sent_is_in_the_journal_of_runs_that_were_killed(store: str, tmp_path: Path) -> None:
    kills = drawn = 0
    for number in range(RUNS):
        folder = tmp_path / str(number)
        folder.mkdir()
        address = str(folder / "space.db") if store == "file" else place_in_database(folder)
        program = Path(__file__).with_name("computed_and_killed.py")
        done = subprocess.run(
            [sys.executable, str(program), address, str(folder), str(number), "6"],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        kills += int(done.stdout)
        drawn += len((folder / "drawn").read_text())
        _agrees(address, folder)
    computed = RUNS * ROUNDS * (COMPUTED + 1)
    print(f"{store}: {kills} kills of {RUNS} runs; {computed} steps computed, {drawn - computed} of them once more")
    assert kills >= RUNS


def _agrees(address: str, folder: Path) -> None:
    """Hold the journal against what was told and sent."""
    with open_space(address) as space, space.store.reading() as snapshot:
        [run] = [row for row in snapshot.runs() if row.goal == "proof"]
        rows = snapshot.steps(run.run)
        contents = {row.position: snapshot.get(str(row.resource)).content for row in rows if row.resource}  # type: ignore[union-attr]
    assert run.status == "success"
    assert [row.position for row in rows] == [str(number + 1) for number in range(ROUNDS * (COMPUTED + 2))]
    sent = [json.loads(line) for line in (folder / "sent").read_text().splitlines()]
    calls = [position for position in contents if int(position) % (COMPUTED + 2) == 0]
    assert sent == [contents[str(int(position) - 1)] for position in calls]
    told = [json.loads(line) for line in (folder / "told").read_text().splitlines()]
    resources = {row.position: row.resource for row in rows}
    assert [one for one in told if one[1] and resources[one[0]] != one[1]] == []
    for position, before in zip(list(contents)[1:], list(contents), strict=False):
        if int(position) % (COMPUTED + 2) not in (0, 1):
            assert contents[position][1] == json.dumps(contents[before], separators=(",", ":"))[:20], position  # type: ignore[index, call-overload]
