"""Plants single faults in a room of the code, and lists those that its tests do not notice.

mutmut makes the mutants, finds out which tests reach which function, and runs each mutant against these tests in a
process forked from one that has imported them. This program gives it a copy of the repository for each room, below
`.mutants/`, so that what was tried once stays known: called again, also after it was broken off, it tries only what is
new, what has changed since, and what lived while the tests were others; a new file of tests has the whole room tried
again. Tests that are marked `slow`, and those of properties, are left out: they reach much, and each survivor would
cost their time.

What mutmut does not mutate: a line that no test covers; a function with a decorator other than `staticmethod` or
`classmethod` (so no `@property`); what stands outside functions, and in annotations; two lines in the wrong order.
Faults of these kinds are planted by hand. A dropped guard, a missing `await` and a lost order are planted by
`operators.py`.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mutation.rooms import ABOUT_CODE, ROOMS, SLOW, Room, together
from mutmut.stats import status_by_exit_code

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ["infospace", "primitives", "planner", "tui"]
NOTICED = ("killed", "timeout", "segfault", "suspicious", "caught by type check")
EQUIVALENT = ROOT / "tests" / "mutation" / "equivalent.txt"


def main() -> int:
    """Try the mutants of a room, and print the table; 1 where too few were noticed."""
    parser = argparse.ArgumentParser(prog="make mutate", description=__doc__)
    parser.add_argument("room", choices=sorted(ROOMS), help="the room whose code is mutated")
    parser.add_argument("--only", default="*", help="a pattern of modules: 'planner.journal.commit_order*'")
    parser.add_argument("--sample", type=int, default=0, help="at most this many mutants, drawn by chance (all)")
    parser.add_argument("--seed", type=int, default=1, help="which ones are drawn")
    parser.add_argument("--workers", type=int, default=2, help="mutants that are tried side by side")
    parser.add_argument("--table", action="store_true", help="run nothing: only print what is known")
    asked = parser.parse_args()
    room = ROOMS[asked.room]
    word, rooms = together(asked.room)
    copy = ROOT / ".mutants" / word
    if not asked.table:
        lay_out(copy, rooms)
        generate(copy, asked.workers)
    chosen = choose(copy, room, asked.only, asked.sample, asked.seed)
    if not chosen:
        print(f"no mutant of the room {asked.room} is called {asked.only!r}")
        return 2
    if not asked.table:
        attempt(copy, rooms, chosen, asked.workers)
    return show(copy, asked.room, room, chosen)


def lay_out(copy: Path, rooms: list[Room]) -> None:
    """Bring the rooms' copy of the repository up to date: a file that is the same keeps its time, and its mutants."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    names = [name for name in listed if name and (ROOT / name).is_file()]
    for name in names:
        source, target = ROOT / name, copy / name
        content = source.read_bytes()
        if name == "pyproject.toml":
            content += configured(names, rooms).encode()
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            shutil.copymode(source, target)
            # mutmut takes what is not there anew, and measures with what is: that would be the code of before
            (copy / "mutants" / name).unlink(missing_ok=True)
    known = {copy / name for name in names}
    for folder in (*PACKAGES, "tests"):
        for base in (copy, copy / "mutants"):
            for path in [path for path in (base / folder).rglob("*.py") if path.is_file()]:
                if copy / path.relative_to(base) not in known:
                    path.unlink()


def configured(names: list[str], rooms: list[Room]) -> str:
    """What mutmut reads in pyproject.toml."""
    top = sorted({name.split("/")[0] for name in names} - {*PACKAGES, "tests", "pyproject.toml"})
    patterns = [pattern for room in rooms for pattern in room.tests]
    tests = [
        test for pattern in patterns for test in sorted(expanded(pattern, names)) if test == pattern or test not in SLOW
    ]
    lists = {
        "source_paths": PACKAGES,
        "only_mutate": [pattern for room in rooms for pattern in room.code],
        "do_not_mutate": [pattern for room in rooms for pattern in room.but],
        "also_copy": top,
        "pytest_add_cli_args": [
            "-p",
            "no:xdist",
            "-p",
            "no:cacheprovider",
            "--timeout=120",
            "-m",
            "not slow and not hypothesis",
            *(f"--deselect={test}" for test in ABOUT_CODE),
        ],
        "pytest_add_cli_args_test_selection": [*dict.fromkeys(tests)],
    }
    rows = [f"{key} = {json.dumps(value)}" for key, value in lists.items()]
    return "\n".join(
        [
            "",
            "[tool.mutmut]",
            *rows,
            "mutate_only_covered_lines = true",
            'process_isolation = "forkserver"',
            "timeout_multiplier = 6.0",
            "timeout_constant = 10.0",
            "track_dependencies = false",
            'on_dependency_change = "ignore"',
            "",
        ]
    )


def expanded(pattern: str, names: list[str]) -> Iterator[str]:
    """The tests that a pattern names: pytest expands none itself."""
    if not any(mark in pattern for mark in "*?["):
        yield pattern
        return
    for name in names:
        if fnmatch.fnmatch(name, pattern) and name.count("/") == pattern.count("/"):
            yield name


NOBODY = "no.such.mutant"


def generate(copy: Path, workers: int) -> None:
    """Make the mutants and find out which tests reach them, without trying any.

    mutmut has no command for that: it is asked for a mutant that does not exist, which it says once all is made.
    """
    done = mutmut(copy, "run", "--max-children", str(workers), NOBODY, check=False)
    if "nothing matches" not in done:
        sys.exit(f"the mutants could not be made:\n{done[-4000:]}")


def mutmut(copy: Path, *arguments: str, check: bool = True) -> str:
    """Run mutmut in the room's copy. Its progress goes to a terminal, or else with its answer into a file."""
    command = [sys.executable, str(Path(__file__).with_name("driver.py")), *arguments]
    if check and sys.stdout.isatty():
        subprocess.run(command, cwd=copy, check=True)
        return ""
    log = copy / "mutmut.log"
    with log.open("w", encoding="utf-8") as file:
        code = subprocess.run(command, cwd=copy, check=False, stdout=file, stderr=subprocess.STDOUT).returncode
    text = without_progress(log.read_text(encoding="utf-8"))
    if check and code:
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with {code}"
        sys.exit(f"mutmut was ended {how}; called again, it goes on from there. Its last lines:\n{text[-4000:]}")
    return text


def without_progress(log: str) -> str:
    """Return the lines that mutmut writes, without those of its progress, which begin with a spinner of Braille."""
    lines = log.replace("\r", "\n").split("\n")
    return "\n".join(line for line in lines if line.strip() and not "\u2800" <= line[0] <= "\u28ff")


def attempt(copy: Path, rooms: list[Room], chosen: list[str], workers: int) -> None:
    """Try those of the chosen that are not known yet. Ctrl-C ends it; what was tried by then stays known."""
    forget_survivors(copy, rooms)
    known = {one.name: one.status for room in rooms for one in mutants(copy, room)}
    new = [name for name in chosen if known[name] == "not checked"]
    print(f"{len(new)} of {len(chosen)} mutants to try")
    if new:
        try:
            mutmut(copy, "run", "--max-children", str(workers), *new)
        except KeyboardInterrupt:
            print("broken off; called again, it goes on here")


def forget_survivors(copy: Path, rooms: list[Room]) -> None:
    """Have those that lived tried again if the tests are others than before: one may be noticed now."""
    whole = hashlib.sha256()
    for path in sorted((copy / "tests").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and "mutation" not in path.parts:
            whole.update(f"{path.relative_to(copy)}\0".encode())
            whole.update(path.read_bytes())
    last = copy / "tests.txt"
    if last.exists() and last.read_text(encoding="utf-8") == whole.hexdigest():
        return
    for meta in [meta for room in rooms for meta, _ in metas(copy, room)]:
        found = json.loads(meta.read_text(encoding="utf-8"))
        codes = found["exit_code_by_key"]
        for name, code in codes.items():
            if status_by_exit_code[code] not in NOTICED:
                codes[name] = None
        meta.write_text(json.dumps(found, indent=4), encoding="utf-8")
    last.write_text(whole.hexdigest(), encoding="utf-8")


def metas(copy: Path, room: Room) -> Iterator[tuple[Path, Path]]:
    """What mutmut knows of each file of a room, and the file."""
    for meta in sorted((copy / "mutants").rglob("*.py.meta")):
        file = meta.relative_to(copy / "mutants").with_suffix("")
        if room.has(str(file)):
            yield meta, file


@dataclass(frozen=True)
class Mutant:
    """A fault that was planted, and what became of it."""

    name: str
    file: Path
    status: str


def mutants(copy: Path, room: Room) -> Iterator[Mutant]:
    """All mutants of a room, by file."""
    for meta, file in metas(copy, room):
        for name, code in json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"].items():
            yield Mutant(name, file, status_by_exit_code[code])


def choose(copy: Path, room: Room, only: str, sample: int, seed: int) -> list[str]:
    """The names of the mutants that are asked for."""
    names = sorted(one.name for one in mutants(copy, room) if fnmatch.fnmatch(one.name, only))
    return sorted(random.Random(seed).sample(names, sample)) if 0 < sample < len(names) else names  # noqa: S311


def show(copy: Path, title: str, room: Room, chosen: list[str]) -> int:
    """Print a row for each file, then each survivor with its change."""
    wanted = set(chosen)
    tried = [one for one in mutants(copy, room) if one.name in wanted and one.status != "not checked"]
    excused = equivalents()
    survivors, rows = [], []
    for file in sorted({one.file for one in tried}):
        here = [one for one in tried if one.file == file and one.status in ("survived", "no tests", *NOTICED)]
        living = [(one, change(copy, one)) for one in here if one.status not in NOTICED]
        killable = [one for one in living if signature(file, one[1]) not in excused]
        survivors += killable
        rows.append((str(file), len(here) - len(living), len(killable), len(living) - len(killable)))
    print(f"\n{'file':50} {'killed':>7} {'lived':>6} {'equivalent':>11} {'killed of killable':>19}")
    killed, lived, equal = (sum(row[place] for row in rows) for place in (1, 2, 3))
    for name, dead, alive, same in [*rows, (title, killed, lived, equal)]:
        print(f"{name:50} {dead:7} {alive:6} {same:11} {100 * dead / max(1, dead + alive):18.1f}%")
    for one, diff in survivors:
        print(f"\n{one.name} ({one.status})\n  " + "\n  ".join(diff))
    return int(100 * killed < room.least * (killed + lived))


def equivalents() -> set[str]:
    """The signatures of the mutants that change nothing that could be noticed; above each, `# ` and why."""
    found: set[str] = set()
    why = ""
    for line in EQUIVALENT.read_text(encoding="utf-8").split("\n"):
        if line.strip() and not line.startswith("#"):
            if not why:
                sys.exit(f"{EQUIVALENT.name} gives no reason for: {line}")
            found.add(line)
        why = line if line.startswith("#") or (line.strip() and why) else ""
    return found


def change(copy: Path, mutant: Mutant) -> list[str]:
    """The lines that a mutant takes out and puts in."""
    done = subprocess.run(
        [sys.executable, "-c", "from mutmut.__main__ import cli; cli()", "show", mutant.name],
        cwd=copy,
        check=False,
        capture_output=True,
        text=True,
    )
    lines = done.stdout.split("\n")
    return [line for line in lines if line.startswith(("+", "-")) and line[:3] not in ("+++", "---")]


def signature(file: Path, diff: list[str]) -> str:
    """How `equivalent.txt` names a mutant: by its file and change, which outlive its number."""
    return f"{file} | " + " | ".join(" ".join(line.split()) for line in diff)


if __name__ == "__main__":
    sys.exit(main())
