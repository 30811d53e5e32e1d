"""A file and a database give the same answers: random changes and searches, whether they go well or are refused.

With INFOSPACE_PROVE=1 there are 10,000 changes; INFOSPACE_SEED says which.
"""

from __future__ import annotations

import os
import random
import re
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from databases import place_in_database

from infospace.contract.arguments import BoundCondition
from infospace.core.errors import InfospaceError
from infospace.core.ids import Kind
from infospace.core.resources import Member
from infospace.expressions import parse_where
from infospace.store.changes import (
    AddMembers,
    Change,
    Delete,
    FreeName,
    GiveName,
    Keep,
    MakeCollection,
    MakeNote,
    MakeRelation,
    RemoveMembers,
    Restore,
    Revise,
    Unkeep,
)
from infospace.store.open import open_store
from infospace.store.protocol import Store

sys.path.insert(0, str(Path(__file__).parents[1] / "search"))
from made_search import find, search_in

PROVE = os.environ.get("INFOSPACE_PROVE") == "1"
CHANGES = 10_000 if PROVE else 400
SEED = int(os.environ.get("INFOSPACE_SEED", "31"))
WORDS = [
    *("steel", "bridge", "rust", "Straße", "STRASSE", "café", "cafe", "naïve", "橋の鋼", "don't", "3.14", "a_b"),
    *("o'clock", "x-ray", "Ωmega", "re-ranked"),
]
NAMES = ("plan", "Café", "Cafe\u0301", "_hidden", "two words", "ΩΩ", "x", "y")
WHERES = (
    "metadata.tag = 'a'",
    "metadata.n > 3",
    "metadata.n IS NULL OR metadata.tag IN ('b', 'c')",
    "content LIKE '%bridge%'",
    "NOT (metadata.n < 5)",
    "version > 1",
)
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
TIMES = frozenset({"created", "updated"})

Draw: TypeAlias = random.Random


class Pair:
    """Two stores in which the same is done, and what there is to do it to."""

    def __init__(self, one: Store, other: Store) -> None:
        self.stores = one, other
        self.searches = [search_in(store) for store in self.stores]
        self.ids: list[str] = []

    def new_id(self, kind: Kind) -> str:
        """An id that is new in both."""
        one, other = (store.new_id(kind) for store in self.stores)
        assert one == other
        self.ids.append(one)
        return one

    def same(self, ask: Callable[[int], Any], what: object) -> Any:
        """Ask both; fail unless they answer alike, or refuse in the same words."""
        answers = []
        for at in (0, 1):
            try:
                answers.append(ask(at))
            except InfospaceError as error:
                answers.append((type(error).__name__, TIME.sub("TIME", error.message), error.hint))
        assert answers[0] == answers[1], what
        return answers[0]


def text(draw: Draw) -> str:
    """Some words, in passages."""
    return " | ".join(" ".join(draw.choices(WORDS, k=draw.randint(1, 5))) for _ in range(draw.randint(1, 3)))


def content(draw: Draw) -> Any:
    """A text mostly, else another value."""
    return draw.choice([text(draw)] * 5 + [None, 7, 1.5, True, [text(draw), {"k": 2}], {"title": text(draw)}])


def metadata(draw: Draw) -> dict[str, Any]:
    """Some of few properties, of several types."""
    found: dict[str, Any] = {}
    if draw.random() < 0.6:
        found["tag"] = draw.choice(["a", "b", "c", 3, ["a", "b"]])
    if draw.random() < 0.6:
        found["n"] = draw.choice([0, 3, 4, 7.5, "7", None, -1])
    if draw.random() < 0.3:
        found["title"] = text(draw)
    return found


def change(pair: Pair, draw: Draw) -> Change:
    """Any change, of anything, whether it may be done or not."""

    def some() -> str:
        return draw.choice(pair.ids[-60:]) if draw.random() < 0.7 else draw.choice(pair.ids)

    def members() -> list[Member]:
        return [Member(some()) for _ in range(draw.randint(0, 4))]

    def version() -> int | None:
        return draw.choice([None, None, None, 1, 2])

    kept = draw.random() < 0.7
    match draw.choice(["note"] * 5 + ["change"] * 8 + ["collection", "relation"]) if pair.ids else "note":
        case "note":
            return MakeNote(pair.new_id(Kind.NOTE), content(draw), metadata(draw), kept)
        case "collection":
            chosen = members()
            return MakeCollection(pair.new_id(Kind.COLLECTION), chosen, metadata(draw), kept)
        case "relation":
            ends = some(), some()
            return MakeRelation(pair.new_id(Kind.RELATION), *ends, draw.choice(["cites", "part of"]), kept=kept)
        case _:
            which = some()
            return draw.choice(
                [
                    Revise(which, content(draw), if_version=version()),
                    Revise(which, metadata=metadata(draw)),
                    Revise(which, members=members()),
                    AddMembers(which, members(), if_version=version()),
                    RemoveMembers(which, [some()]),
                    Keep(which),
                    GiveName(which, draw.choice(NAMES), draw.random() < 0.4),
                    FreeName(which),
                    Unkeep(which, if_free=draw.random() < 0.5),
                    Delete(which, if_version=version(), unless_held=draw.random() < 0.5),
                    Restore(which, version()),
                ]
            )


def search(pair: Pair, draw: Draw) -> None:
    """Look for something in both, in any mode."""
    query = " ".join(draw.choices(WORDS, k=draw.randint(1, 3))) if draw.random() < 0.9 else None
    where = BoundCondition(parse_where(draw.choice(WHERES)), {}) if query is None or draw.random() < 0.4 else None
    wanted = {
        "mode": "semantic" if query is None else draw.choice(["semantic", "keyword", "hybrid"]),
        "limit": draw.choice([1, 3, 10, None]),
        "where": where,
        "threshold": draw.choice([None, 0.0, 0.5, "auto"]) if query is not None else None,
        "certify": draw.random() < 0.3,
    }
    pair.same(lambda at: asdict(find(pair.searches[at], query, **wanted)), (query, wanted))


def as_it_stands(store: Store) -> dict[str, Any]:
    """All of a space but times: resources with all of their versions, and what leads to them."""
    with store.reading() as snapshot:
        found: dict[str, Any] = {"names": snapshot.names(), "generation": snapshot.generation}
        for kind in Kind:
            for one in snapshot.listing(kind):
                versions = [snapshot.get(one.id, number) for number, _ in snapshot.versions(one.id)]
                found[one.id] = [
                    {key: value for key, value in asdict(version).items() if key not in TIMES} for version in versions
                ]
                found[f"into {one.id}"] = snapshot.relations(target=one.id)
        found["searched"] = snapshot.discoverable().tolist()
        return found


@pytest.mark.slow
def test_a_file_and_a_database_answer_alike(tmp_path: Path) -> None:
    draw = random.Random(SEED)  # noqa: S311 - not for secrets
    refused = 0
    with (
        closing(open_store(tmp_path / "space.db", create=True)) as one,
        closing(open_store(place_in_database(tmp_path), create=True)) as other,
    ):
        pair = Pair(one, other)
        for number in range(1, CHANGES + 1):
            changes = [change(pair, draw) for _ in range(draw.choice([1, 1, 1, 2, 3]))]
            done = pair.same(lambda at, these=changes: pair.stores[at].commit(these), (number, changes))
            refused += isinstance(done, tuple)
            if number % 10 == 0:
                search(pair, draw)
            if number % (CHANGES // 4) == 0:
                pair.same(lambda at: as_it_stands(pair.stores[at]), number)
        assert CHANGES // 10 < refused < CHANGES
        assert one.check() == other.check() == []
