"""Plans over a real space in a file, run by the real interpreter, and a look at what they left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from infospace import Resource, Space, open_space
from infospace.context.invoke import call_directly
from infospace.data.result import StepResult
from infospace.journal.rows import StepRow
from planner.execute.start import run_sync
from planner.journal.result import RunResult


@dataclass(frozen=True)
class Ran:
    """A finished run: its outcome, and the space as it left it."""

    space: Space
    result: RunResult

    def resource(self, variable: str) -> Any:
        """What a variable is bound to, as it is now."""
        return self.space.context().get(self.result.bindings[variable].id)

    def content(self, variable: str) -> Any:
        """The content of what a variable is bound to; of a Collection, of its items."""
        return self.space.context().content(self.resource(variable))

    def items(self, variable: str) -> list[Resource]:
        """The items of a Collection."""
        return self.space.context().items(self.resource(variable))

    @property
    def last(self) -> StepRow:
        """The journal's row of the last step."""
        return self.result.steps[-1]

    @property
    def reason(self) -> str:
        """Why the last step failed."""
        assert self.last.status == "failed"
        return self.last.reason or ""


Run = Callable[..., Ran]


def run_in(space: Space) -> Run:
    """Return what runs steps in a space, and insists that they succeed unless told otherwise."""

    def run(*steps: Mapping[str, Any], status: str = "success") -> Ran:
        result = run_sync(space, {"steps": list(steps)})
        assert result.status == status, (result.reason, result.problems)
        return Ran(space, result)

    return run


@pytest.fixture
def run(space: Space) -> Run:
    """Run steps in the empty space."""
    return run_in(space)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Run steps in one space for a module: for many small runs that do not see one another."""
    with open_space(tmp_path_factory.mktemp("shared") / "space.db") as space:
        yield run_in(space)


@pytest.fixture
def call_in() -> Callable[..., StepResult]:
    """Call a primitive directly in a space, outside of any plan."""

    def call_in(space: Space, type_: str, /, **arguments: Any) -> StepResult:
        return asyncio.run(call_directly(space.catalogue.get(type_), arguments, space.context()))

    return call_in


@pytest.fixture
def call(space: Space, call_in: Callable[..., StepResult]) -> Callable[..., StepResult]:
    """Call a primitive directly in the empty space."""
    return partial(call_in, space)


@pytest.fixture(scope="session")
def library(model: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A space file for discovery: named, hidden, transient, empty, long and JSON Notes, all embedded."""
    assert model is not None
    path = tmp_path_factory.mktemp("library") / "space.db"
    with open_space(path) as space:
        run = run_in(space)
        for name, (content, metadata) in LIBRARY.items():
            run({"type": "create-note", "value": content, "metadata": metadata, "name": name})
        run({"type": "create-note", "value": "A cat sleeps on the warm windowsill, and nobody has kept this."})
    return path


FILLER = "The committee met on Tuesday and agreed on the budget for office furniture. " * 60

LIBRARY: dict[str, tuple[Any, dict[str, Any]]] = {
    "cat": ("A cat sleeps on the warm windowsill.", {"topic": "animals", "year": 2020}),
    "dog": ("The dog chases a ball in the park.", {"topic": "animals", "year": 2021}),
    "kitten": ("Kittens play with a ball of wool.", {"topic": "animals", "title": "Young cats"}),
    "bread": ("Knead the dough, let it rise, and bake the bread for forty minutes.", {"topic": "food"}),
    "star": ("The telescope shows a distant galaxy of old stars.", {"topic": "space", "uri": "file:///star.md"}),
    "record": ({"animal": "cat", "colour": "black", "mood": "sleepy"}, {"topic": "animals"}),
    "long": (FILLER + "Then a cat walked in and fell asleep on the table. " + FILLER, {"topic": "work"}),
    "empty": ("", {"topic": "nothing"}),
    "_hidden": ("A cat hides where no search looks: this is infrastructure.", {"topic": "animals"}),
}
"""By name: content and metadata. `_hidden` is not to be found."""


@pytest.fixture
def found(library: Path, tmp_path: Path) -> Iterator[Space]:
    """A copy of the library, to search and to change."""
    import shutil

    path = tmp_path / "library.db"
    for file in filter(Path.is_file, library.parent.glob(f"{library.name}*")):
        shutil.copy(file, path.with_name(file.name.replace(library.name, path.name)))
    with open_space(path) as space:
        yield space


@pytest.fixture
def search(found: Space) -> Run:
    """Run steps in a library of one's own."""
    return run_in(found)


@pytest.fixture(scope="session")
def look(library: Path) -> Iterator[Run]:
    """Run steps in the library itself, by tests that keep, name and change nothing."""
    with open_space(library) as space:
        yield run_in(space)
