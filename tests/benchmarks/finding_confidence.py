"""Learn the model of confidence that `infospace.tools.search.confidence` has, and say how well it holds elsewhere.

`python tests/benchmarks/finding_confidence.py --data FOLDER [--cache FOLDER]`; FOLDER holds metatool-dev,
sealtools-dev, nestools-dev and nestful. It is learnt on the odd requests: of each collection as it is, and of small
catalogues drawn from it; with the right tools there, with them and what looks like them taken out, with requests for
other tools of the collection, of other collections, and with small talk. Printed are the coefficients, and on the even
requests how well requests that a tool fits are told from the others (AUROC), learnt on the other collections alone.

Tried on metatool-dev and sealtools-dev and not kept: AUROC of the even requests with the tools that look alike taken
out (metatool-dev), and of real servers, 60 requests that fit against far ones of metatool-dev (share told rightly where
.05 of those that fit are told wrongly).

| numbers of a tool | alike out | far | rightly |
|---|---|---|---|
| the four | .707 | .930 | .65 |
| and by about 200 purposes of other tools: the nearest to the request, how like the tool it is | .728 | .942 | .73 |
| and the cosines that these purposes have as requests | .714 | .933 | .63 |
| and the lead over the next, words that nobody covers, the number of tools | .742 | .911 | .38 |
| all | .753 | .928 | .48 |
| all, by boosted trees | .740 | .915 | .53 |
| all, by boosted trees learnt on these very requests of metatool-dev and sealtools-dev | .843 | .920 | .66 |

Then values of a request (files, numbers, quotes) were read as what they are, too, a part more of the request. With the
four numbers: far .936 (.985 where a right tool is first), rightly .62; before, in the same way, .928 (.973), .65.
Rightly rests on the third lowest of 60 requests, and those have another tool first: "forget everything about Carol",
"what do you remember about my sister", "remember that Alice works at Acme": there is no evidence for the right one that
could be read. Of 23 far requests of .5 and more (the odd ones, before) 14 go to the tools of server-everything, which
pretend to research, to show forms, images and documents; without that server it is .947 (.995), rightly .66. So the
aims (.80; .97 and .90) are beyond what these numbers hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from collected import Judged, Request, auroc, judged
from numpy.typing import NDArray

from infospace import Space, open_space
from infospace.core.tool import Tool
from infospace.search.embedding.everyday_requests import EVERYDAY
from infospace.tools.search import confidence
from infospace.tools.search.corpus import Corpus
from infospace.tools.search.request import ParsedRequest
from infospace.tools.search.results import ToolQuery
from infospace.tools.search.scoring import by_both, by_meaning, strength
from infospace.tools.search.vectors import dot_products

LOOKALIKE = 0.6
"""Cosine of two tools' vectors from which on one may do for the other."""
FAR = 0.4
"""Cosine below which a tool is far from another."""
CANDIDATES = 5
"""Tools of each request that are learnt from: the best."""
MOST, DRAWN, DRAWS = 700, 30, 6
"""Requests of a whole collection; of one drawn catalogue by kind; catalogues of each size."""
SIZES = (12, 40, 100, 400)
SMALL_TALK = (*EVERYDAY[:19], *EVERYDAY[52:])
"""What no tool is for, whatever the catalogue."""
RIDGE = 300.0
SEED = 7
MODELS = {"BY_BOTH": (0, 1, 2, 3), "BY_MEANING": (0, 3), "BY_WORDS": (1, 2)}
"""Which of the four numbers each model looks at."""


class Row(NamedTuple):
    """One candidate of one request: its numbers by both legs, its first and last by meaning alone."""

    source: str
    kind: str
    whole: bool
    half: int
    request: int
    fits: bool
    right: bool
    numbers: Sequence[float]


@dataclass
class Catalogue:
    """Tools that were made ready."""

    space: Space
    corpus: Corpus

    @classmethod
    def of(cls, space: Space, tools: Sequence[Tool]) -> Catalogue:
        """Embed what is not yet."""
        space.finder.find(tools, ToolQuery("anything"))
        return cls(space, space.finder._corpus(tools))

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The vectors of the tools, as they are of themselves."""
        return np.array([known.vector for known in self.corpus.tools])

    def candidates(self, request: str, gone: Iterable[int]) -> Iterator[tuple[int, list[float]]]:
        """Yield the places of the best tools that are left, with their numbers."""
        asked, key = ParsedRequest.of(request, self.corpus), self.space.embedding.key
        vectors = self.space.embedding.queries(asked.parts)
        cosines = dot_products(vectors, self.corpus.matrix(key, vectors.shape[1]))
        both, meant = by_both(cosines, asked.bm25(self.corpus)), by_meaning(cosines)
        finder = self.space.finder
        numbers = [
            confidence.features(self.corpus, asked.words, found, cosines, finder._null_scores(self.corpus, model))
            for found, model in ((both, confidence.BY_BOTH), (meant, confidence.BY_MEANING))
        ]
        ranked = strength(both)
        ranked[list(gone)] = -1
        for at in np.argsort(-ranked, kind="stable")[:CANDIDATES].tolist():
            if ranked[at] >= 0:
                part = int(np.argmax(both[:, at]))
                yield at, [*numbers[0][:, part, at].tolist(), float(numbers[1][0, part, at])]


def _schema(places: Any) -> dict[str, Any]:
    said = {name: one.get("description", "") if isinstance(one, dict) else "" for name, one in (places or {}).items()}
    return {"type": "object", "properties": {name: {"description": str(text)} for name, text in said.items()}}


def _nestools(folder: Path) -> Judged:
    rows = [json.loads(line) for line in (folder / "tasks.jsonl").open(encoding="utf-8")]
    tools = {
        one["api_name"]: Tool(
            "nestools",
            one["api_name"],
            one["api_description"],
            _schema(one["parameters"]),
            output_schema=_schema(one["responses"]),
        )
        for row in rows
        for one in row["api"]
    }
    asked = [(row["task"], [one["api_name"] for one in row["call"]]) for row in rows]
    return _collection("nestools", tools, asked)


def _nestful(folder: Path, part: str) -> Judged:
    said = json.loads((folder / f"{part}-spec.json").read_text(encoding="utf-8"))
    rows = json.loads((folder / f"{part}-data.json").read_text(encoding="utf-8"))
    tools = {
        one["name"]: Tool(
            part, one["name"], one["description"], _schema(one.get("query_parameters") or one.get("arguments"))
        )
        for one in said
    }
    return _collection(
        f"nestful {part}", tools, [(row["input"], [one["name"] for one in row["output"]]) for row in rows]
    )


def _collection(name: str, tools: dict[str, Tool], asked: Iterable[tuple[str, list[str]]]) -> Judged:
    places = {one: at for at, one in enumerate(tools)}
    requests = [Request(text, {places[one]: 1 for one in right if one in places}) for text, right in asked]
    return Judged(name, list(tools.values()), [one for one in requests if one.right])


def collections(data: Path) -> list[Judged]:
    """Read all that is learnt from."""
    parts = ("executable", "non-executable-glaive", "non-executable-sgd")
    return [
        judged(data / "metatool-dev"),
        judged(data / "sealtools-dev"),
        _nestools(data / "nestools-dev"),
        *(_nestful(data / "nestful", part) for part in parts),
    ]


class Rows:
    """What is learnt from, gathered."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._requests = 0

    def add(
        self,
        catalogue: Catalogue,
        about: tuple[str, bool, int],
        kind: str,
        text: str,
        right: Iterable[int] = (),
        gone: Iterable[int] = (),
    ) -> None:
        """Ask a catalogue; `about` is which collection, whether all of it, which half."""
        good = set(right)
        source, whole, half = about
        for at, numbers in catalogue.candidates(text, gone):
            self.rows.append(Row(source, kind, whole, half, self._requests, kind == "fits", at in good, numbers))
        self._requests += 1


def gather(found: Sequence[Judged], spaces: Sequence[Space]) -> list[Row]:
    """Ask all catalogues all requests."""
    rows, rng = Rows(), random.Random(SEED)  # noqa: S311 - draws of a bench, nothing secret
    wholes = [Catalogue.of(space, one.tools) for one, space in zip(found, spaces, strict=True)]
    for one, whole in zip(found, wholes, strict=True):
        vectors = whole.vectors
        alike = [set(np.flatnonzero(vectors @ row >= LOOKALIKE).tolist()) for row in vectors]
        source = one.name.split()[0]
        for at, request in enumerate(one.requests[:MOST]):
            good = set().union(*(alike[place] for place in request.right))
            rows.add(whole, (source, True, at % 2), "fits", request.text, good)
            rows.add(whole, (source, True, at % 2), "alike out", request.text, gone=good)
        for size in (size for size in SIZES if size < len(one.tools)):
            for draw in range(DRAWS):
                _drawn(rows, rng, one, whole, alike, size, draw % 2, list(zip(found, wholes, strict=True)))
        print(f"{one.name}: {len(rows.rows):,} rows", flush=True)
    return rows.rows


def _drawn(
    rows: Rows,
    rng: random.Random,
    one: Judged,
    whole: Catalogue,
    alike: Sequence[set[int]],
    size: int,
    half: int,
    every: Sequence[tuple[Judged, Catalogue]],
) -> None:
    """Draw a small catalogue, of one server or of five, and ask it."""
    drawn, servers = rng.sample(range(len(one.tools)), size), rng.choice((1, 1, 5))
    places = {place: at for at, place in enumerate(drawn)}
    tools = [replace(one.tools[place], server=f"server {at % servers}") for at, place in enumerate(drawn)]
    catalogue = Catalogue.of(whole.space, tools)
    about = one.name.split()[0], False, half
    inside, outside = [], []
    for request in one.requests[half::2]:
        here = {places[near] for place in request.right for near in alike[place] if near in places}
        if any(place in places for place in request.right):
            inside.append((request.text, here))
        elif not here:
            outside.append(request.text)
    for text, here in rng.sample(inside, min(DRAWN, len(inside))):
        rows.add(catalogue, about, "fits", text, here)
        rows.add(catalogue, about, "alike out", text, gone=here)
    for text in rng.sample(outside, min(DRAWN, len(outside))):
        rows.add(catalogue, about, "of others", text)
    for text in SMALL_TALK:
        rows.add(catalogue, about, "small talk", text)
    vectors = catalogue.vectors
    for other, theirs in every:
        if other.name.split()[0] == about[0]:
            continue
        for request in rng.sample(other.requests[half::2], 12):
            near = theirs.vectors[list(request.right)] @ vectors.T
            if near.max() < FAR:
                rows.add(catalogue, about, "foreign", request.text)


def logistic(
    x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64], ridge: float = RIDGE
) -> NDArray[np.float64]:
    """Return intercept and coefficients of a logistic model, ridge on standard deviations, by Newton's method."""
    mean = np.average(x, axis=0, weights=weights)
    spread = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weights))
    z = np.column_stack([np.ones(len(x)), (x - mean) / spread])
    penalty = ridge * np.diag([0.0, *np.ones(x.shape[1])])
    found = np.zeros(z.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-z @ found))
        slope = z.T @ (weights * (y - p)) - penalty @ found
        found += np.linalg.solve((z * (weights * p * (1 - p))[:, None]).T @ z + penalty, slope)
    coefficients = found[1:] / spread
    return np.array([found[0] - coefficients @ mean, *coefficients])


class Table:
    """The rows as columns."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.source = np.array([row.source for row in rows])
        self.kind = np.array([row.kind for row in rows])
        self.whole = np.array([row.whole for row in rows])
        self.half = np.array([row.half for row in rows])
        self.request = np.array([row.request for row in rows])
        self.right = np.array([row.right for row in rows], float)
        self.numbers = np.array([row.numbers for row in rows])

    def seen_by(self, model: str) -> NDArray[np.float64]:
        """Return the numbers that a model looks at, (rows, numbers)."""
        numbers = self.numbers[:, MODELS[model]]
        if model == "BY_MEANING":
            numbers[:, 0] = self.numbers[:, 4]
        return numbers

    def weights(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what each row counts: collections and kinds alike, fitting requests as much as all others."""
        keys = list(zip(self.source[rows], self.kind[rows], self.whole[rows], strict=True))
        counts = Counter(keys)
        kinds = Counter(source for source, kind in {(source, kind) for source, kind, _ in keys} if kind != "fits")
        each = [(kinds[source] if kind == "fits" else 1) / counts[source, kind, whole] for source, kind, whole in keys]
        return np.array(each) * len(keys) / 30

    def learn(self, model: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return intercept and coefficients learnt on some rows."""
        return logistic(self.seen_by(model)[rows], self.right[rows], self.weights(rows))

    def best(self, odds: NDArray[np.float64], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return of each request its first row and the highest odds of its candidates."""
        _, first, which = np.unique(self.request[rows], return_index=True, return_inverse=True)
        highest = np.full(len(first), -np.inf)
        np.maximum.at(highest, which, odds)
        return rows[first], highest


def report(table: Table, model: str) -> None:
    """Print what was learnt, and how well it holds for a collection that it was not learnt on."""
    odd = np.flatnonzero(table.half == 0)
    learnt = table.learn(model, odd)
    print(f"\n{model}: intercept {learnt[0]:.2f}, coefficients {np.round(learnt[1:], 2).tolist()} of {MODELS[model]}")
    kinds = [(True, "alike out"), *((False, kind) for kind in ("alike out", "of others", "foreign", "small talk"))]
    print(f"{'AUROC, learnt on the others':<28}" + "".join(f"{'all, ' * big + kind:>16}" for big, kind in kinds))
    for source in dict.fromkeys(table.source.tolist()):
        apart = table.learn(model, odd[table.source[odd] != source])
        even = np.flatnonzero((table.half == 1) & (table.source == source))
        first, odds = table.best(table.seen_by(model)[even] @ apart[1:] + apart[0], even)
        cells = [
            auroc(
                odds[(table.kind[first] == "fits") & (table.whole[first] == big)],
                odds[(table.kind[first] == kind) & (table.whole[first] == big)],
            )
            for big, kind in kinds
        ]
        print(f"{source:<28}" + "".join(f"{cell:>16.3f}" for cell in cells))
    even = np.flatnonzero(table.half == 1)
    told = 1 / (1 + np.exp(-(table.seen_by(model)[even] @ learnt[1:] + learnt[0])))
    weights = table.weights(even)
    print("confidence told, and the share that was right, weighted as in learning, even requests:")
    for low in np.arange(0, 1, 0.1):
        some = (told >= low) & (told < low + 0.1)
        if some.any():
            share = np.average(table.right[even][some], weights=weights[some])
            print(f"  {low:.1f} to {low + 0.1:.1f}: {share:.3f} of {some.sum():,}")


def main() -> None:
    """Learn and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder of collections")
    parser.add_argument("--cache", type=Path, help="where spaces are kept")
    args = parser.parse_args()
    os.environ["INFOSPACE_EMBED_SECONDS"] = "inf"
    with tempfile.TemporaryDirectory() as folder:
        cache = args.cache or Path(folder)
        cache.mkdir(parents=True, exist_ok=True)
        found = collections(args.data)
        spaces = [open_space(cache / f"{one.name}.db") for one in found]
        table = Table(gather(found, spaces))
        for space in spaces:
            space.close()
    for model in MODELS:
        report(table, model)


if __name__ == "__main__":
    main()
