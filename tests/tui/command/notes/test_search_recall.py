"""`infospace search --recall`: a person or a model judges notes, and the command says how much the search missed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint

QUERY = "how to bake bread"


@pytest.fixture
def vault(cli: Any, tmp_path: Path, model: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call the command in a space of 4 notes on bread and 8 on ships, without a language model."""
    del model
    monkeypatch.delenv("INFOSPACE_LLM_URL", raising=False)
    folder = tmp_path / "vault"
    folder.mkdir()
    for at in range(4):
        (folder / f"bread {at}.md").write_text(f"Sourdough bread wants flour, water and salt, {at}.")
    for at in range(8):
        (folder / f"ship {at}.md").write_text(f"Ship {at} left the harbour in the morning.")
    assert cli("add", str(folder)).code == 0
    return cli


def answers(asked: str) -> str:
    """Answer as somebody does who looks for bread."""
    lines = [line for line in asked.splitlines() if " of 12  " in line]
    return "".join("y\n" if "bread" in line else "n\n" for line in lines)


def test_a_person_says_yes_and_no(vault: Any) -> None:
    """Each note is shown with its title; all judged, recall is known exactly."""
    shown = vault("search", QUERY, "--recall", "12", stdin="n\n" * 12).err
    said = vault("search", QUERY, "--recall", "12", "--json", stdin=answers(shown)).json
    assert (said["judge"], said["recall"], said["interval"]) == ("me", 1.0, [1.0, 1.0])
    assert sum(one["judged"] for one in said["strata"]) == 12
    assert said["right_found"] == 4
    none = vault("search", QUERY, "--recall", "12", "--json", stdin="")
    assert none.code == 2
    assert "nothing is known of 12 notes" in none.err


def test_recall_is_that_of_the_search_as_it_is_asked(vault: Any) -> None:
    """Above a threshold that nothing reaches all is missed; of a condition only what satisfies it is drawn."""
    high = ("search", QUERY, "--recall", "12", "--threshold", "0.99")
    said = vault(*high, "--json", stdin=answers(vault(*high, stdin="n\n" * 12).err)).json
    assert (said["recall"], said["right_found"], said["right_missed"]) == (0.0, 0.0, 4.0)
    few = ("search", QUERY, "--recall", "12", "--where", "@file LIKE 'bread%'", "--json")
    assert sum(one["judged"] for one in vault(*few, stdin="y\n" * 12).json["strata"]) == 4
    words = vault("search", "bread", "--recall", "12", "--mode", "keyword", "--json", stdin="y\n" * 12).json
    assert (words["certificate"]["threshold"], words["right_found"], words["right_missed"]) == (None, 4.0, 8.0)


def test_the_sentence_says_recall_with_its_interval(vault: Any) -> None:
    """And how many of each part of the ranking were judged."""
    shown = vault("search", QUERY, "--recall", "12", stdin="n\n" * 12)
    assert shown.out == "none of the 12 notes that were judged is right, so nothing is known of recall\n"
    said = vault("search", QUERY, "--recall", "12", stdin=answers(shown.err))
    assert said.out == "recall 1.00 (95 %: 1.00 to 1.00), by 12 judged: about 4 right notes found, about 0 missed\n"
    assert "were judged, 4 are right" in said.err


def test_whoever_ends_early_gets_what_is_known(vault: Any) -> None:
    """An answer that is neither yes nor no is asked for again."""
    said = vault("search", QUERY, "--recall", "12", "--json", stdin="what\ny\nn\nq\n")
    assert "y, n or q" in said.err
    assert sum(one["judged"] for one in said.json["strata"]) == 2
    assert said.json["interval"][0] < said.json["interval"][1]


def test_a_model_judges_where_one_is_configured(vault: Any, endpoint: Endpoint) -> None:
    """It is asked of each note that was drawn, by its whole text; `--judge me` asks the person all the same."""
    endpoint.answers = lambda request: "true" if "Sourdough" in request["messages"][-1]["content"] else "false"
    said = vault("search", QUERY, "--recall", "12", "--json").json
    assert (said["judge"], said["recall"], said["right_found"]) == ("model", 1.0, 4.0)
    assert len(endpoint.requests) == 12
    assert all(QUERY in prompt for prompt in endpoint.prompts)
    asked = vault("search", QUERY, "--recall", "12", "--judge", "me", "--json", stdin="n\n" * 12).json
    assert (asked["judge"], asked["recall"]) == ("me", None)
    assert len(endpoint.requests) == 12


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--recall", "5", "--judge", "model"], "--judge model needs a language model"),
        (["--judge", "me"], "add --recall"),
        (["--recall", "5", "--limit", "3"], "leave out --explain, --count and --limit"),
        (["--recall", "0"], "'0' is no whole number from 1"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused_in_a_sentence(vault: Any, options: list[str], why: str) -> None:
    """Before anything is judged."""
    said = vault("search", QUERY, *options)
    assert said.code == 2
    assert why in said.err
