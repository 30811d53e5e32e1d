"""The screen of a space with a thousand runs: how soon it is there, and how late a timer fires while it is used.

Each is a process of its own on a terminal of 160×50 whose other side reads all that it draws.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shutil
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from figures import Table, percentile, spread
from made import space_file
from processes import interpreter, surroundings

from infospace import Space, open_space
from infospace.core.ids import Kind
from infospace.store.changes import MakeNote
from planner.execute.start import run_sync

RUNS = 1_000
STEPS = 1_000
STARTS = 5
START = "start, until its runs are listed"
NOTES = "start in Notes, until they are listed"
LATE = 0.99
IN_ALL = "in all"
PATIENCE = 300
"""Seconds after which a process is taken for one that hangs."""

STORIES = Path(__file__).with_name("screen_stories.py")
SAY = [
    {"type": "create-note", "value": "some words", "out": "$note"},
    {"type": "create-note", "value": "${note}, and more", "out": "$more"},
]


def run(folder: Path, sizes: Sequence[int]) -> dict[str, Table]:
    """Return the tables `screen`, in seconds, and `lateness`, in milliseconds."""
    size = max(sizes)
    space, markdown, big = _space(folder, size)
    plan = folder / "thousand.json"
    plan.write_text(json.dumps(_plan(), indent=1), encoding="utf-8")
    screen: Table = {}
    for row, place, sign in ((START, "runs", f"{RUNS:,} runs"), (NOTES, "notes", f"{size:,} kept notes")):
        home = folder / "state" / place
        (home / "infospace").mkdir(parents=True, exist_ok=True)
        (home / "infospace" / "screen.json").write_text(json.dumps({"place": place}), encoding="utf-8")
        times = [_started(space, home, sign) for _ in range(STARTS + 1)][1:]
        screen[row] = {"median": spread(times).p50, "least": min(times), "most": max(times)}
    return {"screen": screen, "lateness": _lateness(space, plan, folder / "late.json", markdown, big)}


def _space(folder: Path, size: int) -> tuple[Path, str, str]:
    """Make a space of so many notes, with runs, a long note of Markdown and a longer one of text."""
    folder.mkdir(exist_ok=True)
    path = folder / "screen.db"
    shutil.copy(space_file(folder, size), path)
    with open_space(path) as space:
        for number in range(RUNS):
            result = run_sync(space, {"goal": f"Count the words of note {number}", "steps": SAY})
            assert result.status == "success", result
        line = "Some *words* with a [link](https://example.org), `code` and more words.\n\n"
        markdown = "".join(
            f"# Heading {number}\n\n{line * 10}" for number in range(1, 1_000_000 // (len(line) * 10 + 15))
        )
        big = "".join(f"line {number} of many\n" for number in range(1, 1_000_000))[:20_000_000]
        return path, _note(space, markdown), _note(space, big)


def _note(space: Space, text: str) -> str:
    identifier = space.store.new_id(Kind.NOTE)
    space.store.commit([MakeNote(identifier, text, {"title": "A long note"}, kept=False)])
    return identifier


def _plan() -> dict[str, object]:
    steps = [{"type": "create-note", "value": f"text {number}", "out": f"$note{number}"} for number in range(STEPS)]
    return {"goal": "Make a thousand notes", "steps": steps}


def _started(space: Path, home: Path, sign: str) -> float:
    """Return the seconds from the start of the process until a text is on its terminal."""
    command = [str(interpreter().with_name("infospace")), "tui", "--space", str(space)]
    begun = time.perf_counter()
    process, terminal = _on_terminal(command, surroundings(XDG_STATE_HOME=str(home), TERM="xterm-256color"))
    drawn = b""
    try:
        while sign.encode() not in drawn:
            some = _read(terminal, begun)
            if some is None:
                raise RuntimeError(f"the screen ended: {drawn[-12_000:].decode(errors='replace')}")
            drawn += some
        return time.perf_counter() - begun
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def _lateness(space: Path, plan: Path, out: Path, *notes: str) -> Table:
    command = [str(interpreter()), str(STORIES), str(space), str(plan), str(out), *notes]
    process, terminal = _on_terminal(command, surroundings(TERM="xterm-256color"))
    begun, drawn = time.perf_counter(), b""
    try:
        while (some := _read(terminal, begun)) is not None:
            drawn += some
        process.wait(PATIENCE)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    if process.returncode:
        raise RuntimeError(f"the stories ended with {process.returncode}: {drawn[-12_000:].decode(errors='replace')}")
    found: dict[str, list[float]] = json.loads(out.read_text(encoding="utf-8"))
    found[IN_ALL] = [time for times in found.values() for time in times]
    return {
        name: {"median": spread(times).p50, "p99": percentile(times, LATE), "most": max(times), "ticks": len(times)}
        for name, times in found.items()
    }


def _on_terminal(command: list[str], environment: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True, close_fds=True
    )
    os.close(theirs)
    return process, ours


def _read(terminal: int, begun: float) -> bytes | None:
    """Return what was drawn next, an empty text where nothing came for a while; None once it is closed."""
    if time.perf_counter() - begun > PATIENCE:
        raise RuntimeError("the screen showed nothing of what was waited for")
    if not select.select([terminal], [], [], 0.1)[0]:
        return b""
    try:
        return os.read(terminal, 1 << 16) or None
    except OSError:  # Linux says so where the other side was closed
        return None
