"""Plants single faults in a room of the code, and lists those that its tests do not notice.

First the tests of the room run once, two by two: which pass, how long each takes, and which lines each reaches. mutmut
and `operators.py` make the faults; only such as stand in a line that a test reaches are planted. Each is written into a
copy of the repository, and the tests that reach its statement run there until one fails: the quick ones first, in a
process forked from one that has loaded the packages of others. What is known stays below `.mutants/`: called again,
also after it was broken off, it tries what is new, and what lived while the tests were others.

Left out are tests that are marked `slow`, and those of properties: they reach much, and each survivor would cost their
time. Of tests that reach a fault so many are asked as take `--seconds`; where these are not all, the table says so.
What stands outside functions and in annotations is not mutated, nor are lines that only processes reach which a test
starts. Two lines in the wrong order are planted by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from mutation.mutants import MutableFile, Place, Planted
from mutation.rooms import ROOMS, SLOW, Room, together

ROOT = Path(__file__).parent.parent.parent
BELOW = ROOT / ".mutants"
EQUIVALENT = ROOT / "tests" / "mutation" / "equivalent.txt"
NOTICED = ("killed", "timeout", "crashed")
FIRST_S = 12.0
"""Seconds of the tests that are asked first; most faults are noticed by them."""
LOOKS = "tests/mutation/reach.py"
"""What tells which lines are reached: once it is another, it is asked anew."""
MADE_ONCE = ("vectors", "sample", "searched")
"""What fixtures make once for all tests that run side by side."""


def main() -> int:
    """Try faults of a room, and print the table; 1 where too few were noticed."""
    parser = argparse.ArgumentParser(prog="make mutate", description=__doc__)
    parser.add_argument("room", choices=sorted(ROOMS), help="the room whose code is mutated")
    parser.add_argument("--only", default="*", help="a pattern of files: 'planner/journal/*'")
    parser.add_argument("--sample", type=int, default=0, help="at most this many faults, drawn by chance (all)")
    parser.add_argument("--seed", type=int, default=1, help="which ones are drawn")
    parser.add_argument("--workers", type=int, default=2, help="faults that are tried side by side")
    parser.add_argument("--seconds", type=float, default=60, help="of tests, at most, that are asked about a fault")
    parser.add_argument("--table", action="store_true", help="run nothing: only print what is known")
    asked = parser.parse_args()
    room, word = ROOMS[asked.room], together(asked.room)[0]
    folder = BELOW / word
    folder.mkdir(parents=True, exist_ok=True)
    copies = [folder / f"copy{number}" for number in range(asked.workers)]
    names = repository_files()
    for copy in copies:
        lay_out(copy, names)
    reach = Reach(folder, copies[0], asked.room)
    if not asked.table:
        reach.bring_up_to_date(asked.workers)
    drawn = draw(names, room, reach, asked.only, asked.sample, asked.seed)
    if not drawn:
        print(f"no fault of the room {asked.room} is in {asked.only!r}, in a line that a test reaches")
        return 2
    known = Known(folder / "known.json")
    if not asked.table:
        try:
            attempt(copies, drawn, reach, known, asked.seconds)
        except KeyboardInterrupt:
            print("broken off; called again, it goes on here")
    return show(asked.room, room, [planted for planted, _ in drawn], known)


def repository_files() -> list[str]:
    """The files of the repository as they are now, below its root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    return [name for name in listed if name and (ROOT / name).is_file()]


def lay_out(copy: Path, names: list[str]) -> None:
    """Bring a copy of the repository up to date; files that are no longer there go."""
    for name in names:
        source, target = ROOT / name, copy / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    kept = {copy / name for name in names}
    for path in copy.rglob("*.py"):
        if path not in kept:
            path.unlink()


class Reach:
    """Which tests of a room reach which lines. The tests that have changed are run anew, all where the code has."""

    def __init__(self, folder: Path, copy: Path, name: str) -> None:
        self._file, self._folder, self._copy = folder / "reach.json", folder, copy
        rooms = together(name)[1]
        files = repository_files()
        self._code = [file for file in files if file.endswith(".py") and any(room.has(file) for room in rooms)]
        self._tests = list_tests(rooms, files)
        empty: dict[str, Any] = {"code": "", "tests": {}, "seconds": {}, "failed": [], "lines": {}}
        self._known = json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else empty
        looked = digest([*self._code, LOOKS])
        if self._known["code"] != looked:
            self._known = empty | {"code": looked}

    @property
    def tests(self) -> str:
        """Digest of the tests that were asked."""
        return hashlib.sha256(json.dumps(self._known["tests"], sort_keys=True).encode()).hexdigest()

    def bring_up_to_date(self, workers: int) -> None:
        """Run the tests that are not known as they are now."""
        now = {test: digest([test]) for test in self._tests}
        new = [test for test, known in now.items() if self._known["tests"].get(test) != known]
        stale = {*new, *(set(self._known["tests"]) - set(now))}
        if not stale:
            return
        for part in ("seconds", "failed"):
            kept = [test for test in self._known[part] if test.partition("::")[0] not in stale]
            self._known[part] = {test: self._known[part][test] for test in kept} if part == "seconds" else kept
        for lines in self._known["lines"].values():
            for line, tests in lines.items():
                lines[line] = [test for test in tests if test.partition("::")[0] not in stale]
        for part in self._run(new, workers) if new else ():
            self._known["seconds"] |= part["seconds"]
            self._known["failed"] += part["failed"]
            for path, lines in part["reached"].items():
                here = self._known["lines"].setdefault(str(Path(path).relative_to(self._copy.resolve())), {})
                for line, tests in lines.items():
                    here.setdefault(line, []).extend(test for test in tests if test)
        self._known["tests"] = now
        self._file.write_text(json.dumps(self._known), encoding="utf-8")
        if self._known["failed"]:
            print(f"{len(self._known['failed'])} tests fail or are skipped without a fault, and are not asked")

    def _run(self, tests: list[str], workers: int) -> Iterator[dict[str, Any]]:
        print(f"running the tests of {len(tests)} files, to see what each reaches", flush=True)
        parts = self._folder / "parts"
        shutil.rmtree(parts, ignore_errors=True)
        parts.mkdir()
        options = [
            "-q",
            "-p",
            "mutation.reach",
            "-p",
            "no:cacheprovider",
            "-m",
            "not slow and not hypothesis",
            "--timeout=120",
        ]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(self._copy), str(self._copy / "tests")]),
            "REACH_OF": "\n".join(str(self._copy / file) for file in self._code),
            "REACH_INTO": str(parts),
        }
        command = [sys.executable, "-m", "pytest", *options, "-n", str(workers), "--dist", "worksteal", *tests]
        with (self._folder / "reach.log").open("w", encoding="utf-8") as log:
            subprocess.run(command, cwd=self._copy, env=environment, check=False, stdout=log, stderr=log)
        written = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(parts.glob("*.json"))]
        if not any(part["seconds"] for part in written):
            sys.exit(f"the tests could not be run: see {self._folder / 'reach.log'}")
        yield from written

    def of(self, place: Place) -> list[str]:
        """The tests that reach a place and pass without a fault, quick ones first."""
        lines = self._known["lines"].get(place.file, {})
        failed = set(self._known["failed"])
        tests = {test for line in place.lines for test in lines.get(str(line), ())} - failed
        return sorted(tests, key=lambda test: (self.seconds(test), test))

    def seconds(self, test: str) -> float:
        """How long a test takes."""
        return float(self._known["seconds"].get(test, 1.0))


def list_tests(rooms: list[Room], files: list[str]) -> list[str]:
    """The files of tests that are asked about rooms."""
    patterns = list(dict.fromkeys(pattern for room in rooms for pattern in room.tests))
    found = []
    for file in files:
        asked = file in patterns or (file not in SLOW and any(fits(file, pattern) for pattern in patterns))
        if asked and fnmatch(Path(file).name, "test_*.py"):
            found.append(file)
    return found


def fits(file: str, pattern: str) -> bool:
    """Whether a file is in a folder, or is one that a pattern names."""
    return file.startswith(f"{pattern}/") or (fnmatch(file, pattern) and file.count("/") == pattern.count("/"))


def digest(files: list[str]) -> str:
    """What the content of files is known by."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file}\0".encode() + (ROOT / file).read_bytes())
    return whole.hexdigest()


def draw(
    names: list[str], room: Room, reach: Reach, only: str, sample: int, seed: int
) -> list[tuple[Planted, list[str]]]:
    """The faults that are asked for, with the tests that reach each."""
    files = {name: MutableFile(ROOT, name) for name in names if room.has(name) and fnmatch(name, only)}
    covered = [(place, tests) for name in sorted(files) for place in files[name].places() if (tests := reach.of(place))]
    chosen = random.Random(seed).sample(covered, sample) if 0 < sample < len(covered) else covered  # noqa: S311
    print(f"{len(chosen)} of {len(covered)} faults in lines that tests reach")
    planted = [(files[place.file].planted(place.number), tests) for place, tests in chosen]
    return [(one, tests) for one, tests in planted if one.difference]


class Known:
    """What became of the faults that were tried, in a file; each one is written as soon as it is known."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._all: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def get(self, planted: Planted) -> dict[str, Any]:
        """What is known of one; nothing is an empty one."""
        found: dict[str, Any] = self._all.get(planted.key, {})
        return found

    def put(self, planted: Planted, outcome: dict[str, Any]) -> None:
        """Keep what became of one."""
        with self._lock:
            self._all[planted.key] = outcome
            half = self._path.with_suffix(".half")
            half.write_text(json.dumps(self._all), encoding="utf-8")
            half.replace(self._path)


def attempt(
    copies: list[Path], drawn: list[tuple[Planted, list[str]]], reach: Reach, known: Known, seconds: float
) -> None:
    """Try those that are not known yet, and those that lived while the tests were others."""
    new = [(planted, tests) for planted, tests in drawn if not settled(known.get(planted), reach)]
    print(f"{len(new)} of {len(drawn)} to try", flush=True)
    if not new:
        return
    with tempfile.TemporaryDirectory(prefix="mutants") as scratch:
        workers = [Worker(copy, Path(scratch) / copy.name) for copy in copies]
        free = list(workers)
        done: list[str] = []

        def one(planted: Planted, tests: list[str]) -> None:
            worker = free.pop()
            outcome = worker.attempt(planted, tests, reach, seconds)
            free.append(worker)
            known.put(planted, outcome | {"tests": reach.tests})
            done.append(planted.key)
            print(f"{len(done):4} {outcome['status']:8} {planted.file}:{planted.line}", flush=True)

        try:
            with ThreadPoolExecutor(len(workers)) as pool:
                for future in [pool.submit(one, planted, tests) for planted, tests in new]:
                    future.result()
        finally:
            for worker in workers:
                worker.close()


def settled(outcome: dict[str, Any], reach: Reach) -> bool:
    """Whether nothing has to be tried: noticed is noticed, and what lived still lives by the same tests."""
    return outcome.get("status") in NOTICED or outcome.get("tests") == reach.tests


class Worker:
    """A process that plants faults in a copy of its own."""

    def __init__(self, copy: Path, scratch: Path) -> None:
        scratch.mkdir(parents=True)
        script = Path(__file__).with_name("worker.py")
        self._process = subprocess.Popen(
            [sys.executable, str(script), str(copy), str(scratch)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )
        self._keep = True

    def attempt(self, planted: Planted, tests: list[str], reach: Reach, seconds: float) -> dict[str, Any]:
        """Ask the tests about a fault: first the quick ones, and if it lives, more."""
        first, second = chunks(tests, reach, seconds)
        if self._keep:  # what fixtures make is made once, by the code without a fault
            self._keep = False
            self._ask(planted.file, planted.before, first, keep=True)
        outcome: dict[str, Any] = {}
        passed = 0
        for part in (first, second):
            if part:
                outcome = self._ask(planted.file, planted.after, part)
                passed += outcome.get("passed", 0)
                if outcome["status"] != "lived":
                    break
        return outcome | {"passed": passed, "reach": len(tests), "seconds": sum(map(reach.seconds, tests))}

    def _ask(self, file: str, code: str, tests: list[str], *, keep: bool = False) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        of_search = file.startswith("infospace/search/")
        shared = [] if of_search else MADE_ONCE if file.startswith(("planner/", "tui/")) else MADE_ONCE[:1]
        job = {"file": file, "code": code, "tests": tests, "seconds": 240, "shared": shared, "keep": keep}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        outcome: dict[str, Any] = json.loads(self._process.stdout.readline())
        return outcome

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def chunks(tests: list[str], reach: Reach, seconds: float) -> tuple[list[str], list[str]]:
    """Return the tests that are asked first, and those that are asked if none of these fails."""
    first: list[str] = []
    second: list[str] = []
    total = 0.0
    for test in tests:
        total += reach.seconds(test)
        if total <= FIRST_S or not first:
            first.append(test)
        elif total <= seconds:
            second.append(test)
    return first, second


def show(title: str, room: Room, planted: list[Planted], known: Known) -> int:
    """Print a row for each file, then each survivor with its change."""
    excused = equivalents()
    tried = [(one, known.get(one)) for one in planted if known.get(one)]
    living = [(one, outcome) for one, outcome in tried if outcome["status"] not in NOTICED]
    killable = [(one, outcome) for one, outcome in living if one.signature not in excused]
    print(f"\n{'file':50} {'killed':>7} {'lived':>6} {'equivalent':>11} {'killed of killable':>19}")
    total = [0, 0, 0]
    for file in [*sorted({one.file for one, _ in tried}), title]:
        here = [sum(one.file == file for one, _ in group) for group in (tried, killable, living)]
        row = [here[0] - here[2], here[1], here[2] - here[1]] if file != title else total
        if file != title:
            total = [whole + part for whole, part in zip(total, row, strict=True)]
        share = 100 * row[0] / max(1, row[0] + row[1])
        print(f"{file:50} {row[0]:7} {row[1]:6} {row[2]:11} {share:18.1f}%")
    for one, outcome in killable:
        print(f"\n{one.file}:{one.line} ({outcome['status']}; {outcome['passed']} of {outcome['reach']} tests asked)")
        print("  " + "\n  ".join(one.difference))
    return int(100 * total[0] < room.least * (total[0] + total[1]))


def equivalents() -> set[str]:
    """The signatures of the faults that change nothing that could be noticed; above each, `# ` and why."""
    found: set[str] = set()
    why = ""
    for line in EQUIVALENT.read_text(encoding="utf-8").split("\n"):
        if line.strip() and not line.startswith("#"):
            if not why:
                sys.exit(f"{EQUIVALENT.name} gives no reason for: {line}")
            found.add(line)
        why = line if line.startswith("#") or (line.strip() and why) else ""
    return found


if __name__ == "__main__":
    sys.exit(main())
