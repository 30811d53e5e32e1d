"""Why a tool is found: what is told of a hit adds up to its score."""

from __future__ import annotations

import numpy as np
import pytest
from made_tools import made_tools

from infospace.core.tool import Tool
from infospace.tools.scope import Filters
from infospace.tools.search.finder import EXACT, Finder
from infospace.tools.search.results import (
    Adjustment,
    CallExample,
    Mode,
    PartExplanation,
    ToolExplanation,
    ToolHit,
    ToolQuery,
    ToolResults,
    WordShare,
)
from infospace.tools.search.scoring import relevance, strength

TOOLS = made_tools()
TWO = "Delete a directory with everything in it. Then search the code for the word budget."


def explained(found: ToolResults, hit: ToolHit) -> ToolExplanation:
    """What is told of a hit."""
    why = found.explain(hit.tool)
    assert why is not None
    return why


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize("request_", ["read my config file", TWO, "read_fiel", "brew", "filesystem/read_file"])
def test_the_evidence_of_all_parts_makes_the_score(finder: Finder, mode: Mode, request_: str) -> None:
    """To the sixth decimal, whether it comes by meaning, words, a name or what worked before."""
    remembered = [CallExample("read my configuration file", "filesystem/read_file", {"path": "config.toml"})]
    found = finder.find(TOOLS, ToolQuery(request_, mode=mode), remembered=remembered)
    assert found.hits
    for hit in found.hits:
        parts = explained(found, hit).parts
        evidence = np.array([[part.evidence] for part in parts])
        assert float(relevance(strength(evidence))[0]) == pytest.approx(hit.score, abs=2e-5)


def test_each_word_says_where_it_stands_and_what_it_adds(finder: Finder) -> None:
    """The words of the request alone, those that add most first."""
    found = finder.find(TOOLS, ToolQuery("read my config file"))
    (part,) = explained(found, found.hits[0]).parts
    assert part.cosine is not None
    assert part.meaning == pytest.approx(part.cosine, abs=1e-6)
    words = {one.word: one for one in part.words}
    assert {"read", "file"} <= set(words) <= {"read", "config", "file"}
    assert words["file"].fields[0] == "name"
    assert [one.adds for one in part.words] == sorted((one.adds for one in part.words), reverse=True)
    assert all(one.adds == pytest.approx(one.bm25 / 50, abs=1e-6) for one in part.words)


def test_a_request_of_two_things_is_told_by_parts(finder: Finder) -> None:
    """Of which each has the evidence for its own tool."""
    found = finder.find(TOOLS, ToolQuery(TWO))
    hits = {hit.tool.name: explained(found, hit).parts for hit in found.hits}
    assert [part.part for part in hits["search_code"]][-1] == TWO
    one, other = hits["search_code"][0].evidence, hits["search_code"][1].evidence
    assert other > one


def test_what_is_neither_word_nor_meaning_is_told_apart(finder: Finder) -> None:
    """A name, what a tool says of itself, and what was called for the like; and what stands in for a slip."""
    called = finder.find(TOOLS, ToolQuery("filesystem/read_file"))
    assert explained(called, called.hits[0]).parts[0].name == EXACT
    quoted = finder.find(TOOLS, ToolQuery(TOOLS[0].description))
    assert max(part.quoted for part in explained(quoted, quoted.hits[0]).parts) == EXACT
    past = [CallExample("have a look at the settings", "filesystem/read_file")]
    found = finder.find(TOOLS, ToolQuery("have a look at my settings", limit=None), remembered=past)
    by = {hit.tool.full_name: explained(found, hit).parts[0].past for hit in found.hits}
    assert by.pop("filesystem/read_file") > 0
    assert set(by.values()) <= {0.0}
    slip = finder.find(TOOLS, ToolQuery("pull reqest", mode="keyword"))
    words = explained(slip, slip.hits[0]).parts[0].words
    assert {one.word: one.suggestion for one in words} == {"pull": "", "reqest": "request"}


def test_of_a_tool_that_was_not_searched_nothing_is_told(finder: Finder) -> None:
    """As of one out of scope."""
    found = finder.find(TOOLS[1:], ToolQuery("read my config file"))
    assert found.explain(TOOLS[0]) is None
    assert finder.find([], ToolQuery("read my config file")).explain(TOOLS[0]) is None


def test_as_json_what_adds_nothing_is_left_out(finder: Finder) -> None:
    """And nothing of meaning where none was looked for."""
    found = finder.find(TOOLS, ToolQuery("read my config file", mode="keyword"))
    told = explained(found, found.hits[0]).to_json()
    assert isinstance(told, list)
    assert isinstance(told[0], dict)
    assert set(told[0]) == {"part", "evidence", "words"}


def test_as_json_everything_has_its_name() -> None:
    """Rounded to six decimals; without a vector nothing of meaning, without a slip nothing that was meant."""
    words = (WordShare("read", 2.5, 0.05, ("name", "title")), WordShare("fiel", 1.0, 0.02, ("name",), "file"))
    part = PartExplanation("read fiel", 0.5, 0.51234567, words, quoted=0.25, name=0.125, past=0.0000004)
    plain = PartExplanation("read", None, 0.0)
    assert ToolExplanation((part, plain)).to_json() == [
        {
            "part": "read fiel",
            "evidence": 0.957346,
            "meaning": {"cosine": 0.5, "adds": 0.512346},
            "words": [
                {"word": "read", "bm25": 2.5, "adds": 0.05, "in": ["name", "title"]},
                {"word": "fiel", "meant": "file", "bm25": 1.0, "adds": 0.02, "in": ["name"]},
            ],
            "quoted": 0.25,
            "name": 0.125,
            "past_calls": 0.0,
        },
        {"part": "read", "evidence": 0, "words": []},
    ]


def test_a_hit_as_json_says_why_it_stands_there() -> None:
    """What moved it, by which rule, and what it needs; what there is nothing of is left out."""
    tool = Tool("git", "commit", connected=False)
    moved = (Adjustment("trusted", 0.02), Adjustment("preferred", 0.15, "my rule"))
    found = ToolHit(tool, 0.5, ("words", "name"), moved, 0.75)
    told = found.to_json()
    assert found.ranked == pytest.approx(0.67)
    assert {key: told[key] for key in told if key not in ("ranked", "needs")} == {
        "tool": "git/commit",
        "score": 0.5,
        "confidence": 0.75,
        "adjustments": {"trusted": 0.02, "preferred": 0.15},
        "matched_by": ["words", "name"],
        "rules": {"preferred": "my rule"},
    }
    assert "rules" not in ToolHit(tool, 0.5, ()).to_json()


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("request_", ["read", "read the unheard-of"])
def test_among_few_tools_words_add_up_to_the_score_too(finder: Finder, count: int, request_: str) -> None:
    """Where all their words together weigh less than one word among many."""
    found = finder.find(TOOLS[:count], ToolQuery(request_, mode="keyword", filters=Filters(min_score=0)))
    for hit in found.hits:
        evidence = np.array([[part.evidence] for part in explained(found, hit).parts])
        assert float(relevance(strength(evidence))[0]) == pytest.approx(hit.score, abs=2e-5)
    assert found.hits[0].score > 0
