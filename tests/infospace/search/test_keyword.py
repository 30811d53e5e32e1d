"""Search by words: every Note that has one, in the order of BM25, and no ghost of what was changed."""

from __future__ import annotations

import contextlib
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infospace.contract.arguments import BoundCondition
from infospace.core.errors import Invalid
from infospace.core.ids import Kind, number_of
from infospace.core.resources import Note, text_of
from infospace.expressions import parse_where
from infospace.search.query import SearchResults
from infospace.store.changes import Delete, GiveName, Keep, MakeNote, Revise
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store
from infospace.store.sqlite.read import fulltext as words

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("made_search")

from made_search import eligible, find, make, search_in  # noqa: E402

WORDS = ["sea", "ship", "sail", "moon", "star", "bread", "salt"]


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty space."""
    address = tmp_path / "space.db" if request.param == "file" else ":memory:"
    with contextlib.closing(open_store(address, create=True)) as opened:
        yield opened
        assert opened.check() == []


def keyword(store: Store, query: str, **wanted: Any) -> SearchResults:
    """Search by words."""
    return find(search_in(store), query, mode="keyword", **{"limit": None, **wanted})


def sources(found: SearchResults) -> list[str]:
    """The hits' sources, in order."""
    return [hit.source for hit in found.hits]


def tokens(note: Note[Any]) -> tuple[Counter[str], int]:
    """The words of a Note, each as often as it counts, and how many there are."""
    parts = [
        (5, _title_of(note)),
        (3, note.metadata.get("description", "")),
        (1, text_of(note.content)),
    ]
    counts: Counter[str] = Counter()
    length = 0
    for weight, text in parts:
        words = re.findall(r"[a-z0-9]+", text)
        length += len(words)
        for word in words:
            counts[word] += weight
    return counts, length


def _title_of(note: Note[Any]) -> str:
    said = note.content.get("title") if isinstance(note.content, dict) else None
    return str(note.metadata.get("title") or said or "")


def brute(notes: dict[int, Note[Any]], query: str) -> list[tuple[str, float]]:
    """BM25 by its formula (k1 1.2, b 0.75), with its bound where the query is the title, as b/(b+1)."""
    texts = {number: tokens(note) for number, note in notes.items()}
    average = sum(length for _, length in texts.values()) / max(len(texts), 1)
    scores: defaultdict[int, float] = defaultdict(float)
    bound = 0.0
    for word in set(query.split()):
        having = [number for number, (counts, _) in texts.items() if word in counts]
        weight = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        bound += 2.2 * weight
        for number in having:
            count, length = texts[number][0][word], texts[number][1]
            scores[number] += weight * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / average))
    for number in scores:
        if _title_of(notes[number]) == query:
            scores[number] += bound
    rounded = {number: round(score / (score + 1), 6) for number, score in scores.items()}
    return [(notes[n].id, rounded[n]) for n in sorted(rounded, key=lambda n: (-rounded[n], n))]


TEXTS = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
CONTENT = TEXTS | st.fixed_dictionaries({"sail": TEXTS, "n": st.integers(0, 3)}) | st.none()
ACTS = st.lists(
    st.tuples(
        st.sampled_from(["make", "make", "revise", "title", "describe", "hide", "show", "delete", "keep"]),
        st.integers(0, 20),
        CONTENT,
        TEXTS,
    ),
    max_size=20,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(ACTS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), st.none() | st.integers(1, 4))
def test_every_search_is_bm25_of_what_is_there_now(acts: list[Any], query: str, limit: int | None) -> None:
    """Whatever was made, changed, renamed, hidden and deleted before."""
    with contextlib.closing(open_store(":memory:", create=True)) as store:
        ids: list[str] = []
        for kind, pick, content, title in acts:
            note = ids[pick % len(ids)] if ids else ""
            if kind == "make" or not ids:
                ids.append(store.new_id(Kind.NOTE))
                store.commit([MakeNote(ids[-1], content, {"title": title}, kept=pick % 4 > 0)])
            elif kind == "revise":
                store.commit([Revise(note, content)])
            elif kind == "title":
                store.commit([Revise(note, metadata={"title": title})])
            elif kind == "describe":
                store.commit([Revise(note, metadata={"description": title, "n": 3})])
            elif kind in ("hide", "show"):
                store.commit([GiveName(note, f"{'_' * (kind == 'hide')}the {note}")])
            elif kind == "keep":
                store.commit([Keep(note)])
            else:
                store.commit([Delete(note)])
                ids.remove(note)
        notes = eligible(store)
        expected = brute(notes, query)
        found = keyword(store, query, limit=limit)
        assert [(hit.source, hit.score) for hit in found.hits] == expected[:limit]
        assert [hit.version for hit in found.hits] == [notes[number_of(hit.source)].version for hit in found.hits]
        proved = found.certificate
        assert (proved["matched"], proved["notes"], proved["scored"]) == (len(expected), len(notes), len(notes))
        assert proved["exhaustive"] == (len(expected) == len(found.hits))
        assert store.check() == []


def test_equals_come_by_their_number(store: Store) -> None:
    """The ninth before the tenth, however few are wanted; a better one before all of them."""
    made = make(store, *["sea moon"] * 11, "sea")
    for limit in (1, 3, 11, None):
        assert sources(keyword(store, "sea", limit=limit)) == [made[-1], *made[:-1]][:limit]


def test_the_certificate_claims_no_threshold_and_no_model(store: Store) -> None:
    """There are none; nothing waits to be embedded either."""
    make(store, "sea", "ship")
    proved = keyword(store, "sea").certificate
    assert (proved["threshold"], proved["model"], proved["max_below"]) == (None, None, None)
    assert (proved["unembedded"], proved["method"], proved["words"]) == (0, "exact", ["sea"])


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The boundaries of layers", "boundary layer"),
        ("Naïve café in Zürich", "naive CAFE zurich"),
        ("cafe\u0301 au lait", "café"),
        ("error E1047: not found", "e1047"),
        ("state-of-the-art re-ranker", "ranker"),
        ("snake_case_name", "case"),
        ({"colour": "dark\nblue"}, "blue"),
        ({"path": "C:\\temp\\names"}, "temp"),
        (["a", {"deep": "crimson"}], "crimson"),
        ("Ключ от дома", "ключ"),
        ("version 3.11.7", "3.11"),
        ('say "hello" AND (goodbye) NEAR me*', 'goodbye "hello'),
    ],
)
def test_words_are_found_by_their_stem_whatever_stands_around_them(store: Store, text: Any, query: str) -> None:
    """Case, accents, endings and punctuation do not matter; nothing in a query is an operator."""
    (note,) = make(store, text)
    make(store, "something else")
    assert sources(keyword(store, query)) == [note]


def test_words_that_say_nothing_are_left_out(store: Store) -> None:
    """Unless there are no others."""
    sea, both = make(store, "the sea", "to be or not to be")
    assert sources(keyword(store, "what is the sea")) == [sea]
    assert sources(keyword(store, "to be or not to be")) == [both]


@pytest.mark.parametrize("query", ["?", "***", '"', "- -", "\u0301", "💥"])
def test_a_query_without_any_word_finds_nothing(store: Store, query: str) -> None:
    """That is success."""
    make(store, "sea 💥 ?")
    found = keyword(store, query)
    assert (found.hits, found.certificate["matched"], found.certificate["exhaustive"]) == ([], 0, True)


def test_title_aliases_and_properties_count(store: Store) -> None:
    """A new title is found, the old one no more; so are aliases, texts and lists of texts among the properties."""
    said = {
        "title": "Lighthouse",
        "aliases": ["Pharos"],
        "topic": "navigation",
        "tags": ["coast/north"],
        "deep": {"x": "ice"},
    }
    make(store, "text", metadata=said)
    for word in ("lighthouse", "pharos", "navigation", "coast", "text"):
        assert len(keyword(store, word).hits) == 1, word
    for word in ("topic", "ice"):
        assert keyword(store, word).hits == [], word
    store.commit([Revise("Note_1", metadata={"title": "Harbour"})])
    assert keyword(store, "lighthouse").hits == []
    assert len(keyword(store, "harbour").hits) == 1


def test_where_and_within_narrow_it(store: Store) -> None:
    """The certificate counts what they leave."""
    ids = make(store, "sea", "sea ship", "sea star", metadata={"n": 1})
    store.commit([Revise(ids[2], metadata={"n": 2})])
    found = keyword(store, "sea", where=BoundCondition(parse_where("metadata.n = 2")))
    assert (sources(found), found.certificate["notes"], found.certificate["matched"]) == ([ids[2]], 1, 1)


def test_common_words_of_large_spaces_are_left_out_and_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rarest ones are ranked, and at least one is."""
    monkeypatch.setattr(words, "MOST_ROWS", 6)
    make(store, *["sea"] * 8, "sea ship", "ship star")
    found = keyword(store, "sea ship star")
    assert len(found.hits) == 2
    assert found.certificate["words_left_out"] == ["sea"]
    assert set(found.certificate["words"]) == {"ship", "star"}
    assert len(keyword(store, "sea").hits) == 9


def test_a_rolled_back_change_leaves_no_word(store: Store) -> None:
    """The index is written in the transaction of the change."""
    make(store, "sea")
    with pytest.raises(Invalid, match="cannot be the id of a Note"):
        store.commit([Revise("Note_1", "ship"), MakeNote(store.new_id(Kind.COLLECTION), "moon", kept=True)])
    assert len(keyword(store, "sea").hits) == 1
    assert keyword(store, "ship moon").hits == []


def test_another_process_s_words_are_seen(tmp_path: Path) -> None:
    """By the next search."""
    with (
        contextlib.closing(open_store(tmp_path / "x", create=True)) as one,
        contextlib.closing(open_store(tmp_path / "x", create=True)) as other,
    ):
        search = search_in(other)
        make(one, "sea")
        assert len(find(search, "sea", mode="keyword").hits) == 1
        one.commit([Revise("Note_1", "ship")])
        assert find(search, "sea", mode="keyword").hits == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("全文検索エンジン", "検索"),
        ("全文検索エンジン", "エンジン"),
        ("全文検索エンジン", "全文検索"),
        ("全文検索エンジン", "索"),
        ("これはペンです。", "ペン"),
        ("我们的搜索引擎很快", "搜索"),
        ("我们的搜索引擎很快", "快"),
        ("Python入門書", "python"),
        ("Python入門書", "入門"),
        ("ภาษาไทยไม่มีช่องว่าง", "ไทย"),
        ("ภาษาไทยไม่มีช่องว่าง", "ช่อง"),
        ("검색엔진을 만든다", "엔진"),
        ("か\u3099っこう", "がっこう"),
        ("हिन्दी में खोज", "हिन्दी"),
        ({"要約": "検索の話"}, "要約"),
    ],
)
def test_a_word_inside_a_run_without_spaces_is_found(store: Store, text: Any, query: str) -> None:
    """Han, kana, Hangul and Thai put no spaces between words, or put endings on them."""
    (note,) = make(store, text)
    make(store, "何か別のもの", "สิ่งอื่น", "다른 것", "something else")
    assert sources(keyword(store, query)) == [note]


def test_a_run_is_no_match_for_what_only_has_its_characters_apart(store: Store) -> None:
    """Pairs that stand together count, the more of them the better."""
    whole, some, _ = make(store, "全文検索", "検索全般", "文と全と索と検")
    assert sources(keyword(store, "全文検索")) == [whole, some]
    assert keyword(store, "全文検索").certificate["words"] == ["全文", "文検", "検索"]


@given(st.lists(st.text("検索全文のンทิย่검 a1", min_size=1, max_size=8), min_size=1, max_size=6), st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_piece_of_a_text_finds_it(texts: list[str], data: st.DataObject) -> None:
    """Wherever it is cut out, if it is whole characters with their marks; `a1` is one word."""
    with contextlib.closing(open_store(":memory:", create=True)) as store:
        ids = make(store, *texts)
        at = data.draw(st.integers(0, len(texts) - 1))
        units = re.findall(r"[a1]+|.[ิ่]*", texts[at])
        first = data.draw(st.integers(0, len(units) - 1))
        piece = "".join(units[first : data.draw(st.integers(first + 1, len(units)))])
        if piece.strip(" ิ่") and piece.strip() != "a":
            assert ids[at] in sources(keyword(store, piece))


LONG = "\n\n".join([*(f"{word} " * 150 for word in ("salt", "moon")), "sea " + "ship " * 149, "star " * 150])


def test_a_hit_points_at_the_passage_with_the_word(store: Store) -> None:
    """Cut like a passage where nothing is embedded; without a model, and none where only the title has the word."""
    long, short, titled = make(store, LONG, "the sea", {"title": "no"})
    store.commit([Revise(titled, "text", {"title": "the sea"})])
    hits = {hit.source: hit for hit in keyword(store, "sea").hits}
    with store.reading() as snapshot:
        text = text_of(snapshot.get(long).content)
    start, end = hits[long].start, hits[long].end
    assert start is not None
    assert "sea ship" in text[start:end]
    assert end is not None
    assert end - start < len(text) / 2
    assert (hits[short].start, hits[short].end) == (0, 7)
    assert (hits[titled].start, hits[titled].end) == (None, None)


def test_where_passages_are_embedded_a_hit_points_at_one_of_them(store: Store) -> None:
    """The one with most of what was looked for, the rarer word before the commoner, of equals the first."""
    both, rare, twice = make(store, "sea|moon|sea moon|sea moon", "sea sea|moon|rope", "moon|sea|sea")
    make(store, *["sea"] * 5)
    find(search_in(store), "sea")
    hits = {hit.source: (hit.start, hit.end) for hit in keyword(store, "sea moon").hits}
    assert (hits[both], hits[rare], hits[twice]) == ((9, 17), (8, 12), (0, 4))


def test_a_passage_does_not_depend_on_the_limit(store: Store) -> None:
    """Nor on the other hits."""
    ids = make(store, *("sea moon|moon salt|salt sea " * at for at in range(1, 6)))
    find(search_in(store), "sea")
    every = {hit.source: (hit.start, hit.end) for hit in keyword(store, "salt moon sea").hits}
    assert len(every) == len(ids)
    for limit in (1, 2, 3):
        for hit in keyword(store, "salt moon sea", limit=limit).hits:
            assert (hit.start, hit.end) == every[hit.source]


def test_the_passage_of_a_json_note_has_the_word_behind_an_escape(store: Store) -> None:
    r"""`\n` before a word is a blank to full text, and no letter of the word."""
    filler = "the committee met on tuesday and agreed on the budget\n" * 60
    (note,) = make(store, {"log": f"{filler}zebra\n{filler}"})
    (hit,) = keyword(store, "zebra").hits
    content = eligible(store)[number_of(note)].content
    assert hit.start is not None
    assert "zebra" in text_of(content)[hit.start : hit.end]


def test_the_log_tells_how_it_was_searched(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    make(store, "a ship", "the moon")
    with caplog.at_level("INFO", "infospace.search.search"):
        keyword(store, "ship moon")
    [line] = [record.getMessage() for record in caplog.records]
    assert re.fullmatch(r"searched keyword \(exact\): 2 compared, 2 found, [0-9]+ ms", line), line
