"""Exact search is what a loop over all Notes in double precision gives, whatever was done to the space before."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infospace.contract.arguments import BoundCondition
from infospace.core.errors import InfospaceError
from infospace.core.ids import Kind, number_of
from infospace.expressions import parse_where
from infospace.search.search import Search
from infospace.store.changes import Delete, Evidence, FreeName, GiveName, MakeNote, Revise
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("made_search")

from made_search import brute, eligible, find, make, search_in  # noqa: E402

WORDS = st.sampled_from(["sea", "ship", "sail", "moon", "star", "bread", "salt"])
TEXTS = st.lists(WORDS | st.just("|"), max_size=7).map(" ".join)
CONTENT = TEXTS | st.fixed_dictionaries({"year": st.integers(1, 3), "metadata": st.just({"year": 2})}) | st.just(None)
PICK = st.integers(0, 60)
FIRST = [
    f"{one} {other} | {one} star" for one in ("sea", "ship", "sail", "moon", "salt") for other in ("bread", "sea")
] * 5
"""What is there at first: enough that changes are followed, instead of everything being read again."""
CHANGES = st.one_of(
    st.tuples(st.just("make"), CONTENT, st.integers(1, 3), st.booleans()),
    st.tuples(st.just("revise"), PICK, CONTENT),
    st.tuples(st.just("year"), PICK, st.integers(1, 3)),
    st.tuples(st.just("name"), PICK, st.sampled_from(["_x", "x", "_y"])),
    st.tuples(st.just("unname"), PICK),
    st.tuples(st.just("delete"), PICK),
    st.tuples(st.just("cite"), PICK),
)
WHERES = st.sampled_from(
    [
        None,
        "metadata.year >= 2",
        "year = 2 OR metadata.year = 1",
        "@name = 'x'",
        "content LIKE '%sea%'",
        "@id = 'Note_1'",
    ]
)
SEARCHES = st.tuples(
    st.just("search"),
    st.lists(WORDS, min_size=1, max_size=3).map(" ".join),
    st.none() | st.integers(1, 6),
    st.none() | st.sampled_from([-1.0, 0.0, 0.5]) | st.floats(-1, 1),
    WHERES,
    st.none() | st.sets(st.integers(1, 60), max_size=20),
)
ACTS = st.lists(st.tuples(st.integers(0, 1), CHANGES | SEARCHES), min_size=1, max_size=25)


def change(store: Store, act: tuple[Any, ...], made: list[str]) -> None:
    """Do one change; one that does not fit (of what was deleted, say) is refused, and nothing happens."""
    kind, *rest = act
    if kind == "make":
        made.append(store.new_id(Kind.NOTE))
        store.commit([MakeNote(made[-1], rest[0], {"year": rest[1]}, kept=rest[2])])
        return
    if not made:
        return
    note = made[rest[0] % len(made)]
    with contextlib.suppress(InfospaceError):
        if kind == "revise":
            store.commit([Revise(note, rest[1])])
        elif kind == "year":
            store.commit([Revise(note, metadata={"year": rest[1]})])
        elif kind == "name":
            store.commit([GiveName(note, rest[1], replace=True)])
        elif kind == "unname":
            store.commit([FreeName(note)])
        elif kind == "delete":
            store.commit([Delete(note)])
        else:
            store.commit([MakeNote(store.new_id(Kind.NOTE), Evidence(note, 1, 0.5), kept=True)])


def agrees(store: Store, search: Search, act: tuple[Any, ...]) -> None:
    """Search, and compare hits, order, scores, passages and the certificate with the loop's."""
    _, query, limit, threshold, condition, within = act
    where = None if condition is None else BoundCondition(parse_where(condition))
    numbers = None if within is None else np.array(sorted(within), np.int64)
    found = find(search, query, limit=limit, threshold=threshold, where=where, within=numbers)
    notes = {
        number: note
        for number, note in eligible(store).items()
        if (within is None or number in within) and (where is None or where.match(note))
    }
    least = 0.3 if threshold is None else threshold
    scored = brute(notes.values(), query)
    above = [(-score, number_of(note), note) for note, (score, _, _) in scored.items() if score >= least]
    expected = [(note, -score, *scored[note][1:], notes[n].version) for score, n, note in sorted(above)]
    below = [score for score, _, _ in scored.values() if score < least]
    assert [(hit.source, hit.score, hit.start, hit.end, hit.version) for hit in found.hits] == expected[:limit]
    with store.reading() as snapshot:
        generation = snapshot.generation
    assert {name: value for name, value in found.certificate.items() if name != "model"} == {
        "matched": len(expected),
        "returned": len(expected[:limit]),
        "exhaustive": limit is None or len(expected) <= limit,
        "scored": len(notes),
        "notes": len(notes),
        "unembedded": 0,
        "max_below": max(below, default=None),
        "method": "exact",
        "threshold": least,
        "generation": generation,
    }


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ACTS)
def test_every_search_is_the_brute_force_one(acts: list[tuple[int, tuple[Any, ...]]]) -> None:
    """Through two stores on one file, so that each sees what the other committed; no ghost of what went."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "space.db"
        stores = [open_store(path, create=True, synchronous="NORMAL") for _ in range(2)]
        searches = [search_in(store) for store in stores]
        made = make(stores[0], *FIRST, metadata={"year": 2})
        for search in searches:
            find(search, "sea")
        for who, act in acts:
            if act[0] == "search":
                agrees(stores[who], searches[who], act)
            else:
                change(stores[who], act, made)
        for who in range(2):
            agrees(stores[who], searches[who], ("search", "sea moon", None, -1.0, None, None))
        assert stores[0].check() == []
        for store in stores:
            store.close()


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """An empty space in a file."""
    with contextlib.closing(open_store(tmp_path / "space.db", create=True)) as opened:
        yield opened


def test_scores_at_the_threshold_count_and_just_below_do_not(store: Store) -> None:
    """Over a few hundred Notes, every score is tried as the threshold."""
    chance = np.random.default_rng(3)
    words = ["sea", "ship", "sail", "moon", "star", "bread", "salt", "rope", "tide", "gull"]
    make(store, *(" ".join(chance.choice(words, size=5)) for _ in range(200)))
    search = search_in(store)
    everything = find(search, "sea tide", limit=None, threshold=-1)
    scores = [hit.score for hit in everything.hits]
    assert len(scores) == 200
    for score in sorted(set(scores))[::7]:
        at = find(search, "sea tide", limit=None, threshold=score)
        assert [hit.score for hit in at.hits] == [other for other in scores if other >= score]
        lower = [other for other in scores if other < score]
        assert at.certificate["max_below"] == (max(lower) if lower else None)
        first = find(search, "sea tide", limit=3, threshold=score)
        assert first.hits == at.hits[:3]
        assert first.certificate["matched"] == len(at.hits)


def test_equal_scores_come_by_number_also_where_the_limit_cuts(store: Store) -> None:
    """Twenty Notes of the same words: the first ones are returned."""
    ids = make(store, *["sea ship"] * 20)
    found = find(search_in(store), "sea", limit=7)
    assert [hit.source for hit in found.hits] == ids[:7]
    assert found.certificate["matched"] == 20


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from made_search import make
from infospace.store.sqlite import open_store
store = open_store(sys.argv[1], create=True)
for index in range(40):
    make(store, f"sea ship {sys.argv[3]} {index}")
store.close()
"""


def test_what_processes_write_meanwhile_is_found_and_nothing_else(store: Store, tmp_path: Path) -> None:
    """Three processes write while this one searches: each answer is right for the generation that it names."""
    search = search_in(store)
    arguments = [str(tmp_path / "space.db"), str(Path(__file__).parent)]
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, *arguments, name]) for name in ("a", "b", "c")]
    last = -1
    while any(writer.poll() is None for writer in writers):
        found = find(search, "sea ship", limit=None, threshold=-1)
        proved = found.certificate
        assert len(found.hits) == proved["matched"] == proved["notes"] - proved["unembedded"]
        assert proved["generation"] >= last
        last = proved["generation"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    agrees(store, search, ("search", "sea ship", None, -1.0, None, None))
    assert find(search, "sea", limit=None, threshold=-1).certificate["notes"] == 120


def test_a_note_nobody_can_embed_is_counted_as_unembedded(store: Store, tmp_path: Path) -> None:
    """Read by somebody who may not write: it is not claimed that all was searched."""
    make(store, "sea ship", "sea sail")
    find(search_in(store), "sea")
    make(store, "sea salt")
    reader = search_in(store)
    reader._embedding.catch_up = lambda *_: 0  # type: ignore[method-assign]
    found = find(reader, "sea", limit=None, threshold=-1)
    assert (len(found.hits), found.certificate["notes"], found.certificate["scored"]) == (2, 3, 2)
    assert (found.certificate["unembedded"], found.certificate["exhaustive"]) == (1, False)
