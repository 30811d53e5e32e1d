"""A store that ranks by itself is searched with the same outcome as one whose vectors are read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from databases import place_in_database
from numpy.typing import NDArray

from infospace.contract.arguments import BoundCondition
from infospace.expressions import parse_where
from infospace.store.changes import Delete, GiveName
from infospace.store.postgres import open_store as open_postgres
from infospace.store.postgres.vector_index import build_index
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "memory" / "contract"))
pytest.register_assert_rewrite("made_search")

from made_search import find, make, search_in  # noqa: E402
from ranking_store import RankingStore  # noqa: E402


def every_third(_: Any, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Who asks may know of these."""
    return numbers[numbers % 3 == 0]


HYBRID: tuple[dict[str, Any], ...] = (
    {},
    {"limit": None, "threshold": 0.99},
    {"limit": 3, "threshold": -1.0},
    {"within": np.array([1, 2, 3, 9, 400]), "limit": None},
    {"seen": every_third, "limit": None},
    {"threshold": "auto"},
)

TEXTS = [f"{first} {second} tale|{second} {third}" for first in "abcd" for second in "efg" for third in "hij"]


@pytest.fixture(params=["in a file", "in PostgreSQL"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Any]]:
    """The same by two stores: the first has its vectors read, the second ranks."""
    plain = open_store(tmp_path / "space", create=True)
    ranking: Any
    if request.param == "in a file":
        ranking = RankingStore(open_store(tmp_path / "other", create=True))
    else:
        ranking = open_postgres(place_in_database(tmp_path / "space"), create=True)
    for store in (plain, ranking):
        notes = make(store, *TEXTS, "")
        make(store, "d g tale|c f", "b h", metadata={"title": "a e tale"})
        store.commit([Delete(notes[3]), GiveName(notes[4], "_hidden")])
    yield plain, ranking
    plain.close()
    ranking.close()


@pytest.mark.parametrize(
    "wanted",
    [
        {"certify": True},
        {"limit": None},
        {"limit": 3, "certify": True},
        {"limit": None, "threshold": -1.0},
        {"limit": 4, "threshold": 0.99, "certify": True},
        {"within": np.array([1, 2, 3, 9, 400])},
        {"limit": None, "within": np.array([], np.int64)},
        {"seen": every_third, "limit": None, "threshold": -1.0},
        {"seen": every_third, "within": np.array([1, 2, 3, 9, 400])},
        {"threshold": "auto", "certify": True},
        *({"mode": "hybrid", **more} for more in HYBRID),
    ],
    ids=lambda wanted: ", ".join(f"{key}={getattr(value, '__name__', value)}" for key, value in wanted.items()),
)
def test_hits_and_certificate_are_the_same(stores: tuple[Store, Any], wanted: dict[str, Any]) -> None:
    """Whatever is asked for, and no matrix is made where the store ranks."""
    plain, ranking = (search_in(store) for store in stores)
    expected = find(plain, "a e tale", **wanted)
    assert find(ranking, "a e tale", **wanted) == expected
    with ranking.locked_matrix() as matrix:
        assert matrix is None


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"where": BoundCondition(parse_where("metadata.kind = 'tale'"))},
        {"where": BoundCondition(parse_where("metadata.kind = 'none'"))},
        {"where": BoundCondition(parse_where("metadata.kind = 'tale'")), "within": np.array([1, 2, 40, 41])},
    ],
    ids=str,
)
def test_conditions_and_what_waits_are_told_the_same(stores: tuple[Store, Any], wanted: dict[str, Any]) -> None:
    """What waits to be embedded was not compared, and only what was to be searched counts."""
    plain, ranking = (search_in(store) for store in stores)
    for store in stores:
        make(store, "a e tale", "b f tale", metadata={"kind": "tale"})
    for search in (plain, ranking):
        find(search, "a")
    for store in stores:
        late = make(store, "a tale", metadata={"kind": "tale"})
    for search in (plain, ranking):
        search._embedding.catch_up = lambda *_: 0  # type: ignore[method-assign]
    found = find(ranking, "a e tale", limit=None, certify=True, threshold=-1.0, **wanted)
    assert found == find(plain, "a e tale", limit=None, certify=True, threshold=-1.0, **wanted)
    assert late[0] not in [hit.source for hit in found.hits]


def test_what_admits_an_index_is_asked_of_the_stores(stores: tuple[Store, Any]) -> None:
    """The certificate says that nothing was proved."""
    if not isinstance(stores[1], RankingStore):
        assert find(search_in(stores[1]), "a e tale", limit=3).certificate["method"] == "exact"
        build_index(stores[1].address)
    found = find(search_in(stores[1]), "a e tale", limit=3)
    exact = find(search_in(stores[0]), "a e tale", limit=3)
    assert found.hits == exact.hits
    assert (found.certificate["method"], found.certificate["matched"]) == ("hnsw", None)
    assert not found.certificate["exhaustive"]
    for told in ("notes", "returned", "unembedded", "threshold", "model", "generation"):
        assert found.certificate[told] == exact.certificate[told], told
    assert 3 <= found.certificate["scored"] <= found.certificate["notes"] == len(TEXTS) + 1
    few = find(search_in(stores[1]), "a e tale", limit=9, threshold=0.9)
    assert few.certificate["returned"] == len(few.hits) < 9
    just = find(search_in(stores[1]), "a e tale", limit=3, threshold=found.hits[-1].score)
    assert just.hits == found.hits, "a hit that is just as near as is asked for is one"


def test_the_setting_asks_for_exact_search_of_a_store_too(
    stores: tuple[Store, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """INFOSPACE_INDEX says `exact`."""
    monkeypatch.setenv("INFOSPACE_INDEX", "exact")
    assert find(search_in(stores[1]), "a e tale", limit=3) == find(search_in(stores[0]), "a e tale", limit=3)
