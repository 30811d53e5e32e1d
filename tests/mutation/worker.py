"""Plants faults in a copy of the repository, one at a time, and runs tests of it in processes forked from this one.

This process has imported what is not ours, and nothing of ours: a fork reads the code with the fault, as do all the
processes that its tests start. A job is a line of JSON on standard input, its outcome a line on standard output.
Whatever the tests of a job have started and left running, a database's server too, is ended with the job.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

GRACE_S = 5.0
"""Seconds that a process has to end when it is told to."""
PR_SET_CHILD_SUBREAPER = 36
OURS = ("infospace", "planner", "primitives", "tui")
_LIST_FOREIGN = """
import importlib, pkgutil, sys
for name in {ours!r}:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
for name in ("mcp.server", "hypothesis", "chatting", "onnxruntime", "psycopg", "starlette", "textual.pilot"):
    importlib.import_module(name)
foreign = [name for name in sys.modules if name.partition(".")[0] not in {ours!r} + ("__main__", "chatting")]
print("\\n".join(foreign))
"""


class Chosen:
    """A plugin of pytest: of the tests that are collected those with these names, file by file in the given order."""

    def __init__(self, names: Sequence[str]) -> None:
        self._order = {name: number for number, name in enumerate(names)}
        self.failed: list[str] = []
        self.passed = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose and sort them. The tests of a file stay together, since they share what is dear to make."""
        chosen = [item for item in items if item.nodeid in self._order]
        first: dict[Path, int] = {}
        for item in sorted(chosen, key=lambda item: self._order[item.nodeid]):
            first.setdefault(item.path, self._order[item.nodeid])
        items[:] = sorted(chosen, key=lambda item: (first[item.path], self._order[item.nodeid]))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the first that fails."""
        if report.failed:
            self.failed.append(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the file that cannot be read."""
        if report.failed:
            self.failed.append(report.nodeid)


def attempt(copy: Path, scratch: Path, job: dict[str, Any]) -> dict[str, Any]:
    """Run the tests of a job with its fault in the code. The code is as before at the end."""
    source = copy / job["file"]
    before = source.read_text(encoding="utf-8")
    _write(source, job["code"])
    try:
        return _run(copy, scratch, job)
    finally:
        _write(source, before)


def _write(source: Path, text: str) -> None:
    source.write_text(text, encoding="utf-8")
    for compiled in (source.parent / "__pycache__").glob(f"{source.stem}.*.pyc"):
        compiled.unlink()


def _run(copy: Path, scratch: Path, job: dict[str, Any]) -> dict[str, Any]:
    shutil.rmtree(scratch / "run", ignore_errors=True)
    shared = scratch / "shared"
    (scratch / "run").mkdir(parents=True)
    for name in job["shared"]:
        if (shared / name).exists():
            shutil.copytree(shared / name, scratch / "run" / name, copy_function=os.link)
    result = scratch / "result.json"
    result.unlink(missing_ok=True)
    # Not below `scratch`: PostgreSQL's socket stands in it, whose path has a hundred characters at most.
    with tempfile.TemporaryDirectory(prefix="mutant", ignore_cleanup_errors=True) as temporary:
        child = os.fork()
        if child == 0:
            try:
                _play(copy, scratch, job, result, temporary)
            except BaseException:
                traceback.print_exc()
                raise
            finally:
                os._exit(0)  # never on in the loop of the process that it was forked from
        try:
            ended = _wait(child, job["seconds"])
        finally:
            _end_group(child)
            _end_orphans()
    for name in ("vectors", "sample", "searched"):
        made = scratch / "run" / name
        if job["keep"] and (made / "made").exists():
            shutil.rmtree(shared / name, ignore_errors=True)
            shutil.copytree(made, shared / name)
    if not ended:
        return {"status": "timeout"}
    if not result.exists():
        return {"status": "crashed"}
    outcome: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return outcome


def _play(copy: Path, scratch: Path, job: dict[str, Any], result: Path, temporary: str) -> None:
    """Be the process that runs the tests. What they leave in the folder `temporary` goes with it."""
    os.setsid()
    log = os.open(scratch / "log.txt", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    for descriptor in (0, 1, 2):
        os.dup2(os.open(os.devnull, os.O_RDONLY) if descriptor == 0 else log, descriptor)
    os.chdir(copy)
    sys.path[:] = [str(copy), *[place for place in sys.path if place not in ("", str(copy))]]
    tempfile.tempdir = os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = temporary
    # what is made once for all that test side by side is looked for beside the folder of the tests
    os.environ |= {"PYTHONPATH": str(copy), "MUTANT_UNDER_TEST": "1", "PYTEST_XDIST_WORKER": "gw0"}
    chosen = Chosen(job["tests"])
    files = list(dict.fromkeys(name.partition("::")[0] for name in job["tests"]))
    options = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--timeout=120", "--tb=short"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # what is loaded before is not ours
    code = pytest.main([*options, f"--basetemp={scratch / 'run' / 'tests'}", *files], plugins=[chosen])
    status = "lived" if code == 0 else "killed" if chosen.failed or code == pytest.ExitCode.USAGE_ERROR else "unclear"
    outcome = {"status": status, "by": chosen.failed[:1], "passed": chosen.passed}
    result.write_text(json.dumps(outcome), encoding="utf-8")
    sys.stdout.flush()


def _wait(child: int, seconds: float) -> bool:
    """Wait for a child to end; False where it has not within so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.02)
    return False


def _end_group(child: int) -> None:
    """End the child, where it has not ended, and what the tests have left behind in its session."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)


def adopt_orphans() -> None:
    """Have the processes that a test's process leaves behind become children of this one (on Linux).

    A server that went into a session of its own, as PostgreSQL does, is not in the group that is ended with its test.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_orphans() -> None:
    """End what has become a child of this process: by SIGTERM, so that it clears up; by SIGKILL where that is vain."""
    end = time.monotonic() + GRACE_S
    told: set[int] = set()
    while children := _children():
        late = time.monotonic() > end
        for child in children:
            if late or child not in told:
                os.kill(child, signal.SIGKILL if late else signal.SIGTERM)
                told.add(child)
            with suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)


def _children() -> list[int]:
    """Return the children of this process; on another system than Linux, none."""
    listed = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    return [int(child) for text in listed for child in text.split()]


def main() -> None:
    """Play the jobs in the copy and the scratch folder that are named."""
    adopt_orphans()
    copy, scratch = Path(sys.argv[1]), Path(sys.argv[2])
    text = _LIST_FOREIGN.format(ours=OURS)
    place = os.pathsep.join([str(copy), str(copy / "tests")])
    environment = os.environ | {"PYTHONPATH": place}
    listed = subprocess.run(
        [sys.executable, "-c", text], cwd=copy, env=environment, check=True, capture_output=True, text=True
    )
    for name in listed.stdout.split():
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # a name that only looks like a module
    for line in sys.stdin:
        print(json.dumps(attempt(copy, scratch, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
