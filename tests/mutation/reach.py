"""A plugin of pytest: which tests pass, how long each takes, and which lines of a room's code each one reaches.

`REACH_OF` names the files by their paths, one a line, and `REACH_INTO` the folder that a process writes its part into.
Lines that only processes started by a test reach are not seen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest

_coverage = coverage.Coverage(data_file=None, config_file=False, include=os.environ["REACH_OF"].split("\n"))
_seconds: dict[str, float] = {}
_failed: set[str] = set()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Begin to look at what is run."""
    _coverage.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """What is run from here on is reached by that test."""
    _coverage.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        _coverage.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep how long it took, and whether it passed."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration
    if report.outcome != "passed":
        _failed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what was seen; a process that only hands out the tests has seen nothing."""
    _coverage.stop()
    if hasattr(session.config, "workerinput") or not getattr(session.config.option, "numprocesses", None):
        data = _coverage.get_data()
        reached = {file: data.contexts_by_lineno(file) for file in data.measured_files()}
        part = {"seconds": _seconds, "failed": sorted(_failed), "reached": reached}
        name = f"{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}.json"
        (Path(os.environ["REACH_INTO"]) / name).write_text(json.dumps(part), encoding="utf-8")
