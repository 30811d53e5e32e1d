"""BM25 over fields, beside its formula."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.tools.search.documents import Fields
from infospace.tools.search.lexical.bm25f import K1, WEIGHTS, B, Bm25, TermCounts, Vocabulary

WORDS = ["read", "write", "file", "mail", "route"]
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
tools = st.lists(st.builds(Fields, *[texts] * len(Fields._fields)), min_size=1, max_size=6)


def score(tools: list[Fields], words: list[str], at: int) -> float:
    """Return the BM25F of one tool by its formula."""
    said = [[text.split() for text in tool] for tool in tools]
    total = 0.0
    for word in set(words):
        times = 0.0
        for field, name in enumerate(Fields._fields):
            average = sum(len(tool[field]) for tool in said) / len(tools)
            if said[at][field]:
                norm = 1 - B + B * len(said[at][field]) / average
                times += WEIGHTS.get(name, 1) * said[at][field].count(word) / norm
        having = sum(any(word in field for field in tool) for tool in said)
        weight = math.log(1 + (len(tools) - having + 0.5) / (having + 0.5))
        total += weight * times * (K1 + 1) / (times + K1)
    return total


@given(tools, st.lists(st.sampled_from([*WORDS, "nowhere"])))
def test_scores_are_those_of_the_formula(tools: list[Fields], words: list[str]) -> None:
    """Whatever the tools: empty fields, the same words in all of them, words that none has."""
    vocabulary = Vocabulary()
    index = Bm25([TermCounts.of(tool, vocabulary) for tool in tools], vocabulary)
    assert index.scores(words).tolist() == pytest.approx([score(tools, words, at) for at in range(len(tools))])


def test_a_word_that_came_later_is_in_none_of_the_earlier_tools() -> None:
    """The vocabulary grows, and what was indexed with it stays right."""
    vocabulary = Vocabulary()
    first = TermCounts.of(Fields("read", *[""] * 6), vocabulary)
    index = Bm25([first], vocabulary)
    later = Bm25([first, TermCounts.of(Fields("write", *[""] * 6), vocabulary)], vocabulary)
    assert not index.has("write")
    assert index.scores(["write"]).tolist() == [0]
    assert later.scores(["write"])[1] > 0


def test_a_stand_in_counts_for_its_share() -> None:
    """Of what the word itself would score."""
    vocabulary = Vocabulary()
    tools = [TermCounts.of(Fields(name, *[""] * 6), vocabulary) for name in ("browser", "file")]
    index = Bm25(tools, vocabulary)
    assert index.scores(["brwoser"], {"brwoser": ("browser", 0.5)})[0] == pytest.approx(
        index.scores(["browser"])[0] / 2
    )


def test_no_tools_have_no_scores() -> None:
    """An empty index answers."""
    assert Bm25([], Vocabulary()).scores(["read"]).tolist() == []
