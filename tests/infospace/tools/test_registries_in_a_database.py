"""Registries and rules of a space in PostgreSQL: they do what they do on a file."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))
from databases import place_in_database
from registry_server import Registry, listed, npm, registry_served

from infospace import Space, open_space
from infospace.tools.mcp.registries.connect import check_package, propose
from infospace.tools.mcp.registries.saved import registries, remove
from infospace.tools.mcp.registries.update import add, refresh
from infospace.tools.search.rules.source import VARIABLE
from planner.execute.start import run_sync
from planner.metatools.arguments import SearchTools
from planner.metatools.search_tools import search_tools


@pytest.fixture
def web() -> Iterator[Registry]:
    with registry_served() as server:
        key = {"name": "WEATHER_KEY", "isRequired": True, "isSecret": True}
        server.servers = [
            listed("io.github.ann/weather", "Weather and forecasts", npm("@ann/weather", environmentVariables=[key])),
            listed("a.b/chess", "Plays chess", npm("chess")),
            listed("a.b/broken;rm", "Bad", npm("x; rm -rf /")),
        ]
        yield server


@pytest.fixture
def place(tmp_path: Path) -> str:
    return place_in_database(tmp_path / "space")


def first(space: Space, query: str) -> str:
    found = asyncio.run(search_tools(space, SearchTools(query=query)))
    return str(found["tools"][0]["tool_name"])


def test_a_registry_is_kept_found_refreshed_and_removed(place: str, web: Registry, tmp_path: Path) -> None:
    """Also by another process, which opens the space anew."""
    with open_space(place) as space:
        found = add(space.store, web.url, "ours")
        assert (len(found.servers), len(found.left_out)) == (2, 1)
        assert first(space, "forecast of the weather") == "weather/*"
    with open_space(place) as space:
        [known] = registries(space.store)
        assert (known.name, sorted(one.name for one in known.servers)) == (
            "ours",
            ["a.b/chess", "io.github.ann/weather"],
        )
        web.servers[1:] = [listed("a.b/go", "Plays go", npm("go"))]
        assert sorted(one.name for one in refresh(space.store, "ours").servers) == ["a.b/go", "io.github.ann/weather"]
        assert space.tools.servers is not None
        proposal = propose(space.tools.servers, space.store, "weather", file=tmp_path / "mcp.json")
        check_package(proposal).write(lambda path, data: path.write_bytes(data))
        entry = json.loads((tmp_path / "mcp.json").read_text())["mcpServers"]["weather"]
        assert entry["env"] == {"WEATHER_KEY": "${WEATHER_KEY}"}
        remove(space.store, "ours")
        assert registries(space.store) == []
        assert space.tools.never_listed() == []


def test_rules_act_in_a_database(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the file that the environment names, since a database has no folder."""
    file = tmp_path / "rules.json"
    with open_space(place) as space:
        plain = first(space, "put items in order")
        monkeypatch.setenv(VARIABLE, str(file))
        rule = {"name": "pick", "when": [["?t", "name", "sort"]], "then": {"avoid": "?t"}}
        file.write_text(json.dumps({"rules": [rule]}))
        found = asyncio.run(search_tools(space, SearchTools(query="put items in order")))
        assert found["rules"] == [
            {"rule": "pick", "round": 1, "bindings": {"?t": "infospace/sort"}, "did": "avoid infospace/sort"}
        ]
        step = run_sync(space, [{"type": "discover-tools", "query": "put items in order", "out": "$t"}]).steps[0]
        assert step.extra["rules"] == found["rules"]
        file.write_text("{")
        broken = asyncio.run(search_tools(space, SearchTools(query="put items in order")))
        assert "the rules for tools are not used: " in broken["degraded"]
        assert first(space, "put items in order") == plain
