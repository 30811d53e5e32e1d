"""A plugin of pytest: which tests pass, how long each takes, and which statements of a room's code each one reaches.

`REACH_OF` names the files by their paths, one a line, and `REACH_INTO` the folder that a process writes its part into.
What only processes reach that a test starts is not seen.

Each statement of these files, and each lambda, notes its line as it begins, in the tree that is compiled when the file
is imported. A tracer does not do: in Python 3.11 a coroutine into which a cancellation is thrown tells of its end and
not of its going on, and coverage's account of which frame is running is wrong from then on. Of a run, which cancels the
renewing of its lease, it lost all that comes after.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
from collections.abc import Generator, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

NOTE = "__reached__"
"""What a statement calls as it begins, with its mark."""
LINES = 1_000_000
"""A mark is the number of a file times this, and a line."""

_files = {os.path.realpath(file): number for number, file in enumerate(os.environ.get("REACH_OF", "").split("\n"))}
_marks: set[int] = set()
"""What was reached since the test began."""
_reached: dict[str, set[int]] = {}
_seconds: dict[str, float] = {}
_failed: set[str] = set()


def marked(tree: ast.Module, number: int) -> ast.Module:
    """Have each statement and each lambda of a file note that it begins; docstrings and `__future__` stay first."""
    for node in list(ast.walk(tree)):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                setattr(node, field, [part for one in block for part in _with_mark(one, number)])
        if isinstance(node, ast.Lambda):
            pair = ast.Tuple([_mark(node.body, number), node.body], ast.Load())
            node.body = ast.Subscript(pair, ast.Constant(1), ast.Load())
    return ast.fix_missing_locations(tree)


def _with_mark(one: ast.stmt, number: int) -> list[ast.stmt]:
    is_text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    if is_text or (isinstance(one, ast.ImportFrom) and one.module == "__future__"):
        return [one]
    return [ast.copy_location(ast.Expr(_mark(one, number)), one), one]


def _mark(one: ast.stmt | ast.expr, number: int) -> ast.Call:
    call = ast.Call(ast.Name(NOTE, ast.Load()), [ast.Constant(number * LINES + one.lineno)], [])
    for part in ast.walk(call):
        ast.copy_location(part, one)
    return call


class _Loader(SourceFileLoader):
    """Compiles a file with marks; what is compiled without them is neither read nor replaced."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        code: CodeType = compile(marked(tree, _files[os.path.realpath(path)]), path, "exec", dont_inherit=True)
        return code


class _Finder:
    """Finds the modules of these files."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None or os.path.realpath(spec.origin) not in _files:
            return None
        spec.loader = _Loader(name, spec.origin)
        return spec


setattr(builtins, NOTE, _marks.add)
sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """What is run from here on is reached by that test."""
    _marks.clear()
    try:
        return (yield)
    finally:
        _reached.setdefault(item.nodeid, set()).update(_marks)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep how long it took, and whether it passed."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration
    if report.outcome != "passed":
        _failed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what was seen; a process that only hands out the tests has seen nothing."""
    if hasattr(session.config, "workerinput") or not getattr(session.config.option, "numprocesses", None):
        part: dict[str, Any] = {"seconds": _seconds, "failed": sorted(_failed), "reached": by_line()}
        name = f"{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}.json"
        (Path(os.environ["REACH_INTO"]) / name).write_text(json.dumps(part), encoding="utf-8")


def by_line() -> dict[str, dict[int, list[str]]]:
    """Return the tests that reached each line, by file."""
    names = {number: file for file, number in _files.items()}
    found: dict[str, dict[int, list[str]]] = {}
    for test, marks in _reached.items():
        for mark in marks:
            number, line = divmod(mark, LINES)
            found.setdefault(names[number], {}).setdefault(line, []).append(test)
    return found
