"""`infospace replay`: the same again by the record, with an exit code as that of `diff`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chatting import Endpoint

TITLES = [
    {"type": "discover-notes", "query": "ponds", "mode": "keyword", "limit": "all", "out": "$hits"},
    {"type": "size", "target": "$hits", "out": "$n"},
    {"type": "generate-note", "prompt": "a title for ${n} notes", "out": "$t"},
]
WHY = "step 1 (discover-notes) reads the space as it is now, which has changed since run_2 began"


@pytest.fixture
def titled(cli: Any, endpoint: Endpoint) -> None:
    """run_2 asked a model for the title of what it found: a note."""
    assert cli("run", "-", stdin='[{"type": "create-note", "value": "ponds", "name": "one"}]').code == 0
    assert cli("run", "-", stdin=json.dumps(TITLES)).code == 0
    assert len(endpoint.requests) == 1


@pytest.mark.usefixtures("titled")
def test_what_is_the_same_is_code_0(cli: Any, endpoint: Endpoint) -> None:
    """No model is asked, and nothing is kept."""
    said = cli("replay", "run_2")
    assert (said.code, "the same: 3 steps alike" in said.err) == (0, True)
    told = cli("replay", "run_2", "--json")
    assert (told.code, told.json["difference"]["same"], told.json["why"]) == (0, True, None)
    assert (told.json["replayed"]["run"], told.json["replayed"]["of"]) == (None, "run_2")
    assert (len(endpoint.requests), len(cli("runs", "--json").json["runs"])) == (1, 2)


@pytest.mark.usefixtures("titled")
@pytest.mark.parametrize(
    ("options", "code", "status", "asked"),
    [([], 1, "failed", 1), (["--recorded"], 0, "success", 1), (["--live"], 1, "success", 2)],
    ids=str,
)
def test_what_came_since_is_found_now(
    cli: Any, endpoint: Endpoint, options: list[str], code: int, status: str, asked: int
) -> None:
    """Which is code 1, and why is told; with `--recorded` what was. Only with `--live` a model is asked anew."""
    assert cli("run", "-", stdin='[{"type": "create-note", "value": "two ponds", "name": "two"}]').code == 0
    told = cli("replay", "run_2", "--json", *options)
    assert (told.code, told.json["difference"]["same"], told.json["replayed"]["status"]) == (code, not code, status)
    assert len(endpoint.requests) == asked
    assert all(prompt.endswith(f"{number} notes") for number, prompt in enumerate(endpoint.prompts, 1))
    assert (told.json["why"] or "").startswith(WHY if code else "")
    said = cli("replay", "run_2", *options)
    assert (said.code, WHY in said.err, told.json["why"] is None) == (code, code == 1, code == 0)
