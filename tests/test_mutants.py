"""Which faults `make mutate` plants, and what it asks of the tests about each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mutation.__main__ import Known, Reach, chunks, list_tests, settled
from mutation.mutants import MutableFile, Planted
from mutation.rooms import ROOMS, SLOW, Room, matches

CODE = """
LIMIT = 10


class Box:
    @property
    def full(self) -> bool:
        return self.held > (
            LIMIT
        )

    def add(self, item: int = 3) -> None:
        if item < 0:
            raise ValueError
        self.held += item

    def size(self, item: dict[str, int]) -> int:
        self.held = cast("dict[str, int]", item)
        match item:
            case {"size": size}:
                return size + 1
        return 0
"""


@pytest.fixture
def box(tmp_path: Path) -> MutableFile:
    """A file with a property, a guard and a sum."""
    (tmp_path / "box.py").write_text(CODE, encoding="utf-8")
    return MutableFile(tmp_path, "box.py")


def planted(box: MutableFile) -> dict[str, Planted]:
    """Return all faults by their signature."""
    found = [box.planted(place.number) for place in box.places()]
    return {one.signature: one for one in found}


def test_functions_are_mutated_decorated_ones_too_and_nothing_outside_of_them(box: MutableFile) -> None:
    faults = planted(box)
    assert "box.py | - return self.held > ( | + return self.held >= (" in faults
    assert "box.py | - if item < 0: | + if item <= 0:" in faults
    assert "box.py | - if item < 0: | + if (item < 0) and False:" in faults
    assert "box.py | - self.held += item | + self.held -= item" in faults
    assert "box.py | - return size + 1 | + return size - 1" in faults
    cast = 'cast("dict[str, int]", %s)'
    assert f"box.py | - self.held = {cast % 'item'} | + self.held = {cast % 'None'}" in faults
    assert not any(other in fault for fault in faults for other in ("cast(None", "cast(item", 'cast("XX', 'cast("DICT'))
    assert not any("LIMIT = " in fault or "@property" in fault for fault in faults)


def test_each_fault_is_the_whole_file_with_one_statement_changed(box: MutableFile) -> None:
    for place in box.places():
        one = box.planted(place.number)
        assert one.before == CODE
        assert one.line in place.lines
        assert compile(one.after, "box.py", "exec")
    assert len({one.key for one in planted(box).values()}) == len(planted(box))


def test_tests_that_reach_any_line_of_a_statement_are_asked(box: MutableFile) -> None:
    """Of one with a body, any of those before its body."""
    lines = {one.line: place.lines for place in box.places() for one in [box.planted(place.number)]}
    assert lines[8] == range(8, 11)
    assert lines[13] == range(13, 14)


def test_the_quick_tests_are_asked_first_and_so_many_as_take_the_seconds() -> None:
    reach = Reach.__new__(Reach)
    reach._known = {"seconds": {"a": 5.0, "b": 6.0, "c": 7.0, "d": 30.0, "e": 100.0}}
    assert chunks(["a", "b", "c", "d", "e"], reach, 60.0) == (["a", "b"], ["c", "d"])
    assert chunks(["e"], reach, 60.0) == (["e"], [])


def test_a_fault_that_lived_is_tried_again_once_the_tests_are_others(box: MutableFile, tmp_path: Path) -> None:
    """One that was noticed is not; what is known outlives the process."""
    reach = Reach.__new__(Reach)
    reach._known = {"tests": {"tests/test_box.py": "1"}}
    first, second = list(planted(box).values())[:2]
    known = Known(tmp_path / "known.json")
    known.put(first, {"status": "lived", "tests": reach.tests})
    known.put(second, {"status": "killed", "tests": reach.tests})
    again = Known(tmp_path / "known.json")
    assert settled(again.get(first), reach)
    assert settled(again.get(second), reach)
    reach._known = {"tests": {"tests/test_box.py": "2"}}
    assert not settled(again.get(first), reach)
    assert settled(again.get(second), reach)
    assert not settled({}, reach)


def test_a_room_asks_its_files_and_folders_but_the_slow_ones_that_it_does_not_name() -> None:
    slow = SLOW[0]
    files = ["tests/a/test_one.py", "tests/a/b/test_two.py", "tests/ab/test_three.py", "tests/a/conftest.py", slow]
    assert list_tests([Room(("x.py",), ("tests/a",), 85)], files) == files[:2]
    assert list_tests([Room(("x.py",), ("tests/planner", "tests/a*/test_*.py"), 85)], files) == [files[0], files[2]]
    assert list_tests([Room(("x.py",), (slow,), 85)], files) == [slow]


def test_every_room_has_code_and_tests() -> None:
    """A file that was renamed is not left out in silence."""
    root = Path(__file__).parent.parent
    for room in ROOMS.values():
        for pattern in room.code:
            top = Path(pattern.partition("/")[0])
            files = [str(path.relative_to(root)) for path in (root / top).rglob("*.py")]
            assert any(matches(file, (pattern,)) for file in files), pattern
        for pattern in room.tests:
            assert (root / pattern).exists() or list(root.glob(pattern)), pattern


LEAVES = """
import os, signal, sys
from pathlib import Path

import databases
import psycopg


def test_box():
    with psycopg.connect(databases.server_address()) as session:
        folder = session.execute("SHOW data_directory").fetchone()[0]
    number = (Path(folder) / "postmaster.pid").read_text().split()[0]
    Path("server.txt").write_text(f"{number} {folder}")
    END
"""
PLAYS = """
import json, sys
from pathlib import Path
from mutation import worker

worker.adopt_orphans()
print(json.dumps(worker.attempt(*map(Path, sys.argv[1:3]), json.loads(sys.argv[3]))))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives a process the children of those that ended")
@pytest.mark.parametrize(
    ("end", "status"),
    [
        pytest.param("pass", "lived", id="lived"),
        pytest.param("os.killpg(0, signal.SIGKILL)", "crashed", id="crashed"),
    ],
)
def test_no_database_server_outlives_the_tests_that_started_it(tmp_path: Path, end: str, status: str) -> None:
    """PostgreSQL has a session of its own, and the process of the tests ends without what is run at an exit."""
    copy, scratch = tmp_path / "copy", tmp_path / "scratch"
    copy.mkdir()
    (copy / "box.py").write_text(CODE, encoding="utf-8")
    (copy / "test_box.py").write_text(LEAVES.replace("END", end), encoding="utf-8")
    job = {"file": "box.py", "code": CODE, "tests": ["test_box.py::test_box"], "shared": [], "keep": False}
    here = Path(__file__).parent
    played = subprocess.run(
        [sys.executable, "-c", PLAYS, str(copy), str(scratch), json.dumps(job | {"seconds": 60})],
        env=os.environ | {"PYTHONPATH": f"{here}{os.pathsep}{here.parent}"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(played.stdout)["status"] == status, (scratch / "log.txt").read_text(encoding="utf-8")
    server, folder = (copy / "server.txt").read_text(encoding="utf-8").split()
    assert not Path(f"/proc/{server}").exists()
    assert not Path(folder).exists()


REACHED = '''
"""Of this file."""
from __future__ import annotations

import asyncio


async def ends(seconds):
    await asyncio.sleep(seconds)
    return "never"


async def played():
    """Cancel a task, and go on."""
    task = asyncio.create_task(ends(3600))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        said = "cancelled"
    if said:
        return said
    return None


later = lambda: (
    1 + 1
)
'''
REACHES = """
import asyncio
import reached


def test_played():
    assert asyncio.run(reached.played()) == "cancelled"
    assert reached.played.__doc__ == "Cancel a task, and go on."


def test_lambda():
    assert reached.later() == 2
"""


def test_what_a_coroutine_does_after_a_cancellation_is_reached_too(tmp_path: Path) -> None:
    """By the test that runs it, and by no other; a tracer loses it."""
    code = tmp_path / "reached.py"
    code.write_text(REACHED, encoding="utf-8")
    (tmp_path / "test_reached.py").write_text(REACHES, encoding="utf-8")
    options = ["-q", "-p", "mutation.reach", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={tmp_path}"]
    environment = os.environ | {
        "PYTHONPATH": f"{Path(__file__).parent}{os.pathsep}{tmp_path}",
        "REACH_OF": str(code),
        "REACH_INTO": str(tmp_path),
    }
    environment.pop("PYTEST_XDIST_WORKER", None)
    command = [sys.executable, "-m", "pytest", *options, "test_reached.py"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    part = json.loads((tmp_path / "alone.json").read_text(encoding="utf-8"))
    lines = part["reached"][str(code.resolve())]
    played = {int(line) for line, tests in lines.items() if "test_reached.py::test_played" in tests}
    assert played == {9, 15, 16, 17, 18, 19, 21, 22, 23}
    assert {int(line) for line, tests in lines.items() if "test_reached.py::test_lambda" in tests} == {28}
    assert sorted(part["seconds"]) == ["test_reached.py::test_lambda", "test_reached.py::test_played"]
    assert not list(tmp_path.rglob("reached.*.pyc"))
