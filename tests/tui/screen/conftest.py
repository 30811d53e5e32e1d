"""The real app on a real space, driven by its keys: `show(story)` plays a story on a screen of some size."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from infospace import Space, open_space
from infospace.tools.search.results import ToolQuery
from planner.metatools.search_tools import find_tools
from tui.runtime.ui_state import UiState

sys.path.insert(0, str(Path(__file__).parent))

from furnishing import WAIT, furnish
from noted import library
from once import make_once
from staging import PATIENCE, Show, Stage, Story
from tooling import house, listed

if TYPE_CHECKING:
    from textual.css.types import CSSLocation


@pytest.fixture
def show(space: Space) -> Show:
    """Play a story on the screen of a space of one's own, or of another one."""

    def play(
        story: Story,
        size: tuple[int, int] = (80, 24),
        on: Space | None = None,
        memory: UiState | None = None,
        *,
        toasts: bool = False,
    ) -> None:
        asyncio.run(Stage.play(on or space, story, size, memory, toasts=toasts))

    return play


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that wait for long go on meanwhile, and leaving gives them time to come to rest, on any machine."""
    monkeypatch.setattr("planner.execute.wait.LONGEST_SLEEP", WAIT["seconds"])
    monkeypatch.setattr("tui.app.LEAVE_SECONDS", PATIENCE)


@pytest.fixture(scope="session", autouse=True)
def styles_parsed_once() -> Iterator[None]:
    """What the style sheets say is read once in a process, not by each app anew; a theme's variables count with it."""
    parse, parsed = Stylesheet._parse_rules, {}

    def parse_once(self: Stylesheet, css: str, read_from: CSSLocation, *rest: Any, **named: Any) -> list[RuleSet]:
        variables = tuple(sorted(self._variables.items()))
        key = (css, read_from, rest, tuple(sorted(named.items())), variables)
        if key not in parsed:
            parsed[key] = parse(self, css, read_from, *rest, **named)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        patch.setattr(RuleSet, "__hash__", object.__hash__)  # it is that already, but by a function in Python
        yield


@pytest.fixture
def furnished(space: Space, monkeypatch: pytest.MonkeyPatch) -> Space:
    """A space with a run of each kind; times are told in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    furnish(space, monkeypatch)
    return space


@pytest.fixture
def stocked(space: Space, monkeypatch: pytest.MonkeyPatch) -> Space:
    """A space with notes of every kind, a Relation and a Collection; times are told in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    library(space, monkeypatch)
    return space


@pytest.fixture(scope="session")
def house_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A space file with three servers, of which one fails; what they list is known, and embedded.

    It is made once for all processes that test side by side. Copy it before opening it.
    """

    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patched, open_space(folder / "space.db") as opened:
            house(folder, patched)
            assert [one.server for one in listed(opened, patched).failed] == ["gone"]
            find_tools(opened, ToolQuery("rooms"))

    return make_once(tmp_path_factory, "house", make) / "space.db"


@pytest.fixture
def housed(house_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Space]:
    """A space with three servers, of which one fails; what they list is known. Times are told in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    folder = tmp_path / "house"
    folder.mkdir()
    house(folder, monkeypatch)
    shutil.copy(house_file, folder / "space.db")
    with open_space(folder / "space.db") as opened:
        yield opened


@pytest.fixture
def started(space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Space:
    """The same, listed by this process: two of the servers run. Times are told in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    house(tmp_path, monkeypatch)
    assert [one.server for one in listed(space, monkeypatch).failed] == ["gone"]
    return space
