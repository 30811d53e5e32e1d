"""The house stays in order: small rooms, each with its sentence, and no circles of imports."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("infospace", "planner", "primitives", "tui")
MOST = 17
"""Entries of a room, `py.typed` not counted."""
LARGE = {
    "primitives": "each verb is a file, and the listing is the vocabulary",
    "tui/help": "each page of the documentation is a file",
}
"""Rooms that may have more, and why."""
CIRCLES: Mapping[frozenset[str], str] = {
    frozenset({"infospace.store.sqlite", "infospace.store.sqlite.private_copy", "infospace.store.sqlite.store"}): (
        "a store opens a private copy of itself"
    ),
    frozenset({"planner.parse.control_flow", "planner.parse.fields", "planner.parse.steps"}): (
        "a form holds steps, and a step may be a form"
    ),
    frozenset({"planner.lifecycle.resume", "planner.sessions.errors", "planner.sessions.session"}): (
        "resuming the run of a session opens the session, which resumes runs"
    ),
    frozenset({"tui.base_screen", "tui.widgets.key_footer"}): "the footer shows the keys of the screen that has it",
    frozenset({"tui.text.console", "tui.text.output"}): "the console is loaded only where something is drawn",
    frozenset(
        {"tui.command.runs.resume", "tui.command.runs.run", "tui.command.common.follow_run"}
    ): "whoever follows a run resumes it once it is answered",
}
"""Circles that imports within functions close, and why they are there."""
SHORT = {"it says nothing", "Declare the arguments."}
"""What stands for no docstring, and what each subcommand says of its `configure`."""


def rooms() -> Iterator[Path]:
    """Every folder of code."""
    for package in PACKAGES:
        yield from (path.parent for path in sorted((ROOT / package).rglob("__init__.py")))


@pytest.mark.parametrize("room", [path.relative_to(ROOT).as_posix() for path in rooms()])
def test_a_room_is_small_and_says_what_it_is(room: str) -> None:
    entries = [path for path in (ROOT / room).iterdir() if path.name not in ("__pycache__", "py.typed")]
    assert len(entries) <= MOST or room in LARGE
    said = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8")))
    assert said
    assert said.splitlines()[0].rstrip().endswith((".", ",", ":")) or "\n" in said


def modules() -> dict[str, Path]:
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def nodes(path: Path) -> Sequence[ast.AST]:
    """Every node of a file's tree, as `ast.walk` gives them: no test changes one, so that each file is read once."""
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def imports(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """Every module that one imports, at its head and in functions; not what is imported for types alone."""
    typed = set()
    for node in nodes(path):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            typed |= {id(inner) for part in node.body for inner in ast.walk(part)}
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in typed:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module
        elif isinstance(node, ast.Import) and id(node) not in typed:
            yield from (alias.name for alias in node.names)


def circles(graph: Mapping[str, set[str]]) -> list[frozenset[str]]:
    """Every largest set of modules of which each leads to each."""

    def reached(start: str) -> set[str]:
        seen, ahead = set(), [start]
        while ahead:
            for other in graph.get(ahead.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    ahead.append(other)
        return seen

    beyond = {module: reached(module) for module in graph}
    return sorted(
        {
            frozenset(other for other in beyond[module] if module in beyond.get(other, ()))
            for module in graph
            if module in beyond[module]
        },
        key=sorted,
    )


def test_imports_make_no_circle_but_those_that_are_known() -> None:
    known = modules()
    graph: dict[str, set[str]] = defaultdict(set)
    for module, path in known.items():
        graph[module] |= {other for other in imports(path, known) if other in known and other != module}
    found = circles(graph)
    unknown = [circle for circle in found if circle not in CIRCLES]
    assert unknown == []
    assert [circle for circle in CIRCLES if circle not in found] == []


def test_a_base_class_of_the_screen_serves_more_than_one_class() -> None:
    """A base class with one class at its end is that class cut in two: its parts are composed instead."""
    below: dict[str, set[str]] = defaultdict(set)
    own: set[str] = set()
    created: set[str] = set()
    for path in (ROOT / "tui").rglob("*.py"):
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                own.add(node.name)
                for base in node.bases:
                    below[ast.unparse(base.value if isinstance(base, ast.Subscript) else base)].add(node.name)
            elif isinstance(node, ast.Call):
                created.add(ast.unparse(node.func).rpartition(".")[2])

    def ends(name: str) -> set[str]:
        further = below.get(name, set())
        return {end for one in further for end in ends(one)} if further else {name}

    assert len(ends("BaseScreen")) > 5
    assert [one for one in sorted(own & below.keys() - created) if len(ends(one)) == 1] == []


RAISES = re.compile(r"\b[Rr]aises?((?:,? (?:(?:and|or) )?`?[A-Z]\w+`?)+)")


def test_every_error_that_a_docstring_says_is_raised_exists() -> None:
    """Whoever catches what a docstring names catches something."""
    docs: list[tuple[str, str]] = []
    classes = set(dir(builtins))
    for module, path in modules().items():
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                classes.add(node.name)
            elif isinstance(node, ast.ImportFrom):
                classes |= {alias.asname or alias.name for alias in node.names}
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                docs.append((module, ast.get_docstring(node) or ""))
    named = [
        (module, name) for module, doc in docs for part in RAISES.findall(doc) for name in re.findall(r"\w+", part)
    ]
    assert len(named) > 300
    assert [one for one in named if one[1] not in {*classes, "and", "or"}] == []


def test_the_tree_of_errors_at_the_head_of_their_file_is_that_of_the_classes() -> None:
    tree = ast.parse((ROOT / "infospace/core/errors.py").read_text(encoding="utf-8"))
    drawn: dict[str, str] = {}
    above: list[str] = []
    for indent, name in re.findall(r"^([│├└─ ]*)([A-Z]\w+)(?: |$)", ast.get_docstring(tree) or "", re.MULTILINE)[1:]:
        above = [*above[: len(indent) // 4], name]
        drawn[name] = above[-2] if len(above) > 1 else ""
    classes = {node.name: ast.unparse(node.bases[0]) for node in tree.body if isinstance(node, ast.ClassDef)}
    assert drawn == {"InfospaceError": "", **{name: base for name, base in classes.items() if base in classes}}


def test_a_docstring_says_more_than_a_name() -> None:
    """One of a word or two repeats the name; a word of code in it says which one is meant."""
    few = []
    for module, path in modules().items():
        for node in nodes(path):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                said = ast.get_docstring(node) or "it says nothing"
                if 0 < len(said.split()) <= 2 and "`" not in said and said not in SHORT:
                    few.append((module, node.name, said))
    assert few == []


def test_no_group_of_a_pattern_is_repeated_possessively() -> None:
    """Before 3.11.5 Python matches such patterns wrong (CPython issue 106052), and says nothing."""
    possessive = []
    for module, path in modules().items():
        for node in nodes(path):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
                parts = [part.value for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant)]
                pattern = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", "".join(map(str, parts)))
                if re.search(r"\)(?:[*+?]|\{[0-9,]+\})\+", pattern):
                    possessive.append((module, pattern))
    assert possessive == []
