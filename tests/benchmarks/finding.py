"""How good the tools are that are found, beside plain methods.

`python tests/benchmarks/finding.py --data FOLDER [--cache FOLDER] [--speed N …] [NAME …]`; FOLDER holds collections
of tools as `collected.py` reads them; `real servers` are servers that are started. The settings were chosen on the
odd requests of metatool-dev and sealtools-dev, so the even ones, and collections that are not among these, are what
counts. With `--cache` spaces and their vectors are kept for the next time. `--speed` measures how long a search takes
among so many tools, beside FastMCP's.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from collected import DEPTH, Judged, Quality, interval, judged, mean, quality
from finding_changed import CHANGES, changed
from finding_no_match import no_match
from finding_servers import NAME as SERVERS
from finding_servers import real_servers
from numpy.typing import NDArray
from quality import PlainBm25, best, fused

from infospace import Space, open_space
from infospace.tools.scope import Filters
from infospace.tools.search.documents import split_name
from infospace.tools.search.results import CallExample, ToolQuery, ToolResults

NAMES = ("metatool-dev", "sealtools-dev", SERVERS)
OURS = "infospace"
CONVEX = 0.6
"""What the cosine weighs in the convex mixture; BM25 weighs the rest."""

LOOKALIKE = 0.6
"""Cosine of two tools' texts from which on one may do for the other."""

EVERY = Filters(min_score=0)
"""Lists all tools, relevant or not: what is judged is the ranking alone."""

Rank = Callable[[int], list[int]]


class Finding:
    """One collection, and a space that has its tools."""

    def __init__(self, collection: Judged, space: Space) -> None:
        self.collection = collection
        self._space = space
        self._places = {tool.full_name: at for at, tool in enumerate(collection.tools)}

    def found(self, request: str, remembered: Sequence[CallExample] = (), filters: Filters = EVERY) -> ToolResults:
        """Return what is found for a request."""
        wanted = ToolQuery(request, DEPTH, filters)
        return self._space.finder.find(self.collection.tools, wanted, remembered=remembered)

    def rank(self, at: int) -> list[int]:
        """Return the places of the ten best tools for one of the requests."""
        return self.places(self.found(self.collection.requests[at].text))

    def places(self, found: ToolResults) -> list[int]:
        """Return the places of what was found."""
        return [self._places[hit.tool.full_name] for hit in found.hits]

    def without(self, at: int, lookalikes: Sequence[set[int]] | None = None) -> ToolResults:
        """Return what is found when the right tools of a request are not there, nor those that look like them."""
        request = self.collection.requests[at]
        gone = set(request.right).union(*(lookalikes[one] for one in request.right) if lookalikes else ())
        tools = [tool for place, tool in enumerate(self.collection.tools) if place not in gone]
        return self._space.finder.find(tools, ToolQuery(request.text, 1))

    def first(self, found: ToolResults) -> int | None:
        """Return the place of the best tool, guess or hit; None where there is none."""
        best = found.hits[0] if found.hits else found.guess
        return None if best is None else self._places[best.tool.full_name]

    def plain(self) -> dict[str, Rank]:
        """Return what is compared: the place of a request to those of the ten best tools."""
        collection, embedding = self.collection, self._space.embedding
        bm25 = PlainBm25([split_name(text) for text in collection.texts])
        whole, _ = embedding.embed_whole_texts("benchmark-1", collection.texts, _Silence(), None)
        asked = embedding.queries([request.text for request in collection.requests])

        def convex(at: int) -> list[int]:
            words, meaning = bm25.scores(collection.requests[at].text), np.vecdot(whole, asked[at])
            words = words / max(words.max(), 1e-9)
            meaning = (meaning - meaning.min()) / np.ptp(meaning)
            return best(CONVEX * meaning + (1 - CONVEX) * words)

        def reciprocal(at: int) -> list[int]:
            words, meaning = bm25.scores(collection.requests[at].text), np.vecdot(whole, asked[at])
            return fused(best(words, 1_000), best(meaning, 1_000))

        return {
            "BM25 alone": lambda at: best(bm25.scores(collection.requests[at].text)),
            "embeddings alone": lambda at: best(np.vecdot(whole, asked[at])),
            "reciprocal ranks": reciprocal,
            f"convex, {CONVEX}": convex,
        }

    def nearest_to(self, other: Finding) -> NDArray[np.float32]:
        """Return the cosines of these tools' texts and those of another collection, (tools, theirs)."""
        ours, theirs = (
            self._space.embedding.embed_whole_texts("benchmark-1", one.collection.texts, _Silence(), None)[0]
            for one in (self, other)
        )
        return np.asarray(ours @ theirs.T)

    def lookalikes(self) -> list[set[int]]:
        """Return for each tool those that may do for it."""
        whole, _ = self._space.embedding.embed_whole_texts("benchmark-1", self.collection.texts, _Silence(), None)
        return [set(np.flatnonzero(np.vecdot(whole, row) >= LOOKALIKE).tolist()) for row in whole]


class _Silence:
    def message(self, kind: str, text: str) -> None:
        pass

    def progress(self, done: int, total: int, what: str) -> None:
        pass


def judge(collection: Judged, rank: Rank, places: Sequence[int]) -> list[Quality]:
    """Judge the rankings of some requests."""
    return [quality(rank(at), collection.requests[at].right) for at in places]


def compare(finding: Finding) -> None:
    """Print ours and the plain methods on the requests that count, with the interval of the difference."""
    collection = finding.collection
    counting = collection.counting
    found = {OURS: judge(collection, finding.rank, counting)}
    found |= {name: judge(collection, rank, counting) for name, rank in finding.plain().items()}
    which = "even" if collection.chosen_on else "of all"
    print(f"\n{collection.name}: {len(collection.tools):,} tools, {len(counting):,} {which} requests")
    print(f"{'':<24}{'NDCG@10':>9}{'R@1':>7}{'R@5':>7}{'R@10':>7}{'all@10':>8}   ours above by, NDCG@10")
    ours = [one.ndcg for one in found[OURS]]
    for name, judged_ in found.items():
        theirs = [one.ndcg for one in judged_]
        low, high = interval(ours, theirs)
        beside = "" if name == OURS else f"   {np.mean(ours) - np.mean(theirs):+.3f} ({low:+.3f} to {high:+.3f})"
        print(f"{name:<24}{_row(mean(judged_))}{beside}")


def ablate(finding: Finding) -> None:
    """Print what each part of the method brings on the even requests: the method without it."""
    collection = finding.collection
    even = collection.half(1)
    print(f"\n{collection.name}: the method, and without one of its parts")
    whole = judge(collection, finding.rank, even)
    print(f"{OURS:<40}{_row(mean(whole))}")
    for name, changes in CHANGES.items():
        with changed(changes), open_space(_space_of(finding)) as space:
            other = Finding(collection, space)
            print(f"{name:<40}{_row(mean(judge(collection, other.rank, even)))}")
    odd = collection.half(0)
    remembered = [
        CallExample(collection.requests[at].text, collection.tools[place].full_name)
        for at in odd
        for place in collection.requests[at].right
    ]
    found = [
        quality(finding.places(finding.found(collection.requests[at].text, remembered)), collection.requests[at].right)
        for at in even
    ]
    print(f"{'with the odd requests remembered':<40}{_row(mean(found))}")


def _space_of(finding: Finding) -> str:
    return finding._space.store.address


def chosen(findings: Sequence[Finding]) -> None:
    """Print which settings are the best on the odd requests, and how the choice for one collection serves another."""
    findings = [finding for finding in findings if finding.collection.chosen_on]
    grid = [
        {"scoring.BM25_PER_COSINE": words, "scoring.UNIT": unit} for words in (25, 50, 100) for unit in (0.1, 0.15, 0.3)
    ]
    table: dict[str, dict[int, list[float]]] = {}
    for at, settings in enumerate(grid):
        with changed(settings):
            for finding in findings:
                for which in (0, 1):
                    found = judge(finding.collection, finding.rank, finding.collection.half(which))
                    table.setdefault(finding.collection.name, {}).setdefault(at, []).append(mean(found).ndcg)
    names = list(table)
    picks = {name: max(table[name], key=lambda at: table[name][at][0]) for name in names}
    picks["all"] = max(range(len(grid)), key=lambda at: sum(table[name][at][0] for name in names))
    print("\nchosen on the odd requests of … (BM25 per cosine, unit): NDCG@10 on the even requests of …")
    print(f"{'':<36}" + "".join(f"{name:>16}" for name in names))
    for name, at in picks.items():
        cells = "".join(f"{table[other][at][1]:>16.3f}" for other in names)
        print(f"{name:<16}{', '.join(f'{value:g}' for value in grid[at].values()):<20}{cells}")
    cells = "".join(f"{max(found[1] for found in table[other].values()):>16.3f}" for other in names)
    print(f"{'the best of the grid, for comparison':<36}{cells}")


def _collections(names: Sequence[str], data: Path, cache: Path) -> Iterator[Judged]:
    for name in names:
        found = real_servers(cache / SERVERS) if name == SERVERS else judged(data / name)
        if isinstance(found, Judged):
            yield found
        else:
            print(found)


def _row(found: Quality) -> str:
    return (
        f"{found.ndcg:>9.3f}{found.recall_1:>7.3f}{found.recall_5:>7.3f}{found.recall_10:>7.3f}{found.all_right:>8.3f}"
    )


PARTS: Mapping[str, Callable[[Sequence[Finding]], object]] = {
    "compare": lambda findings: [compare(finding) for finding in findings],
    "ablate": lambda findings: [ablate(finding) for finding in findings],
    "chosen": chosen,
    "no-match": no_match,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME", help="folders in the data folder")
    parser.add_argument("--data", type=Path, required=True, help="a folder of collections")
    parser.add_argument("--cache", type=Path, help="where spaces are kept")
    parser.add_argument("--only", choices=[*PARTS, "speed"], nargs="+", default=[*PARTS, "speed"])
    parser.add_argument("--speed", type=int, nargs="+", default=[1_000, 5_000, 10_000], metavar="N")
    args = parser.parse_args()
    os.environ["INFOSPACE_EMBED_SECONDS"] = "inf"
    with tempfile.TemporaryDirectory() as folder:
        cache = args.cache or Path(folder)
        cache.mkdir(parents=True, exist_ok=True)
        collections = list(_collections(args.names, args.data, cache))
        spaces = [open_space(cache / f"{one.name}.db") for one in collections]
        findings = [Finding(*pair) for pair in zip(collections, spaces, strict=True)]
        for part in (part for part in PARTS if part in args.only):
            PARTS[part](findings)
        if "speed" in args.only:
            from finding_speed import speed

            speed(max(collections, key=lambda one: len(one.tools)), cache, args.speed)
        for space in spaces:
            space.close()


if __name__ == "__main__":
    main()
