"""Which servers a message needs: every case with its paraphrases, and the compatible mode."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from requests_for_servers import CASES, SERVERS

from infospace import open_space
from infospace.tools.search.finder import Finder
from infospace.tools.search.servers import (
    ABBREVIATIONS,
    ServerText,
    _meaning_evidence,
    choose_compatibly,
    choose_servers,
    written_out,
)

ALL = ("filesystem", "github", "brew")
TEXTS = [ServerText(one["name"], one["description"], one["tools"]) for one in SERVERS]
BARE = [ServerText(one["name"]) for one in SERVERS]

FURTHER = {
    "uninstall node from my mac": ("brew",),
    "update all my packages": ("brew",),
    "rename notes.txt to old.txt": ("filesystem",),
    "how big is that file": ("filesystem",),
    "make a new directory called tmp": ("filesystem",),
    "merge the PR": ("github",),
    "fork this repo": ("github",),
    "tell me a joke": (),
    "what is the capital of France": (),
    "order a pizza": (),
    "explain quantum mechanics": (),
    "who won the world cup": (),
}
"""Messages that nothing was adjusted to."""


@pytest.mark.parametrize(("message", "wanted"), [(one, names) for some, names in CASES.items() for one in some])
def test_a_message_gets_the_servers_that_it_needs(finder: Finder, message: str, wanted: tuple[str, ...]) -> None:
    assert tuple(choose_servers(message, TEXTS, finder._embedding).names) == wanted


@pytest.mark.parametrize(("message", "wanted"), FURTHER.items())
def test_so_does_one_that_nobody_thought_of(finder: Finder, message: str, wanted: tuple[str, ...]) -> None:
    assert tuple(choose_servers(message, TEXTS, finder._embedding).names) == wanted


@pytest.mark.parametrize(
    ("message", "servers", "threshold", "why"),
    [
        ("  ", TEXTS, 0.05, "the message is blank"),
        ("install imagemagick", TEXTS, 1.0, "no server reaches the threshold"),
        ("install imagemagick", BARE, 0.05, "no server has a description"),
        ("hello there", TEXTS, 0.05, "no server reaches the threshold"),
    ],
)
def test_the_compatible_mode_falls_back_to_all(
    message: str, servers: list[ServerText], threshold: float, why: str
) -> None:
    """The list unchanged, in its order."""
    found = choose_compatibly(message, servers, threshold)
    assert (tuple(found.names), found.unchanged) == (ALL, why)


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("install imagemagick", ("brew",)),
        ("install imagemagick via homebrew", ("brew",)),
        ("list open pull requests", ("github",)),
        ("read config file", ("filesystem",)),
        ("search code in local files", ("filesystem", "github")),
    ],
)
def test_the_compatible_mode_counts_words(message: str, wanted: tuple[str, ...]) -> None:
    """The cosine of counted words; the order is that of the list."""
    assert tuple(choose_compatibly(message, TEXTS).names) == wanted
    assert tuple(choose_compatibly(message, TEXTS[::-1]).names) == wanted[::-1]


def test_without_a_model_words_alone_decide_rarer_ones_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The weight of a word is ln(1 + (n + ½) / (k + ½)), where k of n servers have it; a word of a tool counts 0.7.

    A word that no server has weighs half of one that one server has. The score is the weighted mean.
    """
    monkeypatch.setenv("INFOSPACE_MODEL_DIR", str(tmp_path / "no model"))
    servers = [
        ServerText("alpha", "post and parcels"),
        ServerText("beta", "post", [("stamp", "prints")]),
        ServerText("gamma", "weather"),
    ]
    with open_space(tmp_path / "space.db") as space:
        found = choose_servers("post parcels stamp unheard", servers, space.finder._embedding)
    of_two, of_one = math.log(1 + 3.5 / 2.5), math.log(1 + 3.5 / 1.5)
    total = of_two + 2.5 * of_one
    expected = {"alpha": (of_two + of_one) / total, "beta": (of_two + 0.7 * of_one) / total, "gamma": 0.0}
    assert found.scores == pytest.approx(expected, abs=1e-6)
    assert (found.names, found.unchanged) == (["alpha", "beta"], None)
    assert "servers are chosen by words alone: " in str(found.degraded)


def test_a_server_that_has_three_quarters_of_the_best_is_needed_as_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And one with less is not, whether or not it reaches the threshold."""
    monkeypatch.setenv("INFOSPACE_MODEL_DIR", str(tmp_path / "no model"))
    names = ("post parcels stamp weather", "post parcels stamp", "weather", "tide")
    servers = [ServerText(chr(ord("a") + at), text) for at, text in enumerate(names)]
    with open_space(tmp_path / "space.db") as space:
        found = choose_servers("post parcels stamp weather", servers, space.finder._embedding)
    assert (found.names, found.scores) == (["a", "b"], {"a": 1.0, "b": 0.75, "c": 0.25, "d": 0.0})


def test_a_server_is_as_near_to_a_clause_as_the_nearest_of_its_texts(finder: Finder) -> None:
    """Whatever other clauses and servers there are; where no text has a vector in time, by words alone."""
    embedding, clauses, servers = finder._embedding, ["install imagemagick", "list open pull requests"], TEXTS[:3]
    together = _meaning_evidence(clauses, servers, embedding)
    for row, clause in enumerate(clauses):
        for at, server in enumerate(servers):
            alone = [replace(server, tools=tools) for tools in ([], *([tool] for tool in server.tools))]
            near = [_meaning_evidence([clause], [one], embedding)[0, 0] for one in alone]
            assert together[row, at] == pytest.approx(max(near), abs=1e-5)
    assert together[0].tolist() != pytest.approx(together[1].tolist(), abs=1e-3)


def test_the_compatible_score_is_the_cosine_of_counts() -> None:
    """Each word as often as it stands there, in any case; a server that reaches the threshold is needed."""
    servers = [ServerText("post", "mail MAIL"), ServerText("parcels", "by rail"), ServerText("?", "!"), ServerText("x")]
    found = choose_compatibly("Post post parcels", servers, 0.4)
    expected = {"post": 0.4, "parcels": round(1 / math.sqrt(5 * 3), 6), "?": 0.0, "x": 0.0}
    assert found.scores == expected
    assert (found.names, found.unchanged) == (["post"], None)
    every = choose_compatibly("Post post parcels", servers, 0.41)
    assert (every.names, every.scores) == (["post", "parcels", "?", "x"], expected)


def test_an_empty_list_stays_empty(finder: Finder) -> None:
    """In both modes."""
    assert choose_servers("install imagemagick", [], finder._embedding).names == []
    assert choose_compatibly("install imagemagick", []).names == []


def test_abbreviations_are_written_out() -> None:
    """Whole words, in any case; nothing inside of words."""
    assert written_out("open a PR in my repo") == "open a pull request in my repository"
    assert written_out("prepare the directory") == "prepare the directory"
    assert not set(ABBREVIATIONS) & {word for long in ABBREVIATIONS.values() for word in long.split()}


def test_the_help_has_all_abbreviations() -> None:
    """Page `agents`."""
    page = files("tui.help").joinpath("agents.md").read_text("utf-8")
    assert [short for short, long in ABBREVIATIONS.items() if f"`{short}` {long}" not in page] == []
