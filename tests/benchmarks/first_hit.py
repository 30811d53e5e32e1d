"""What a search says of its first hit, with the answers of a question in the space, without them, and in small talk.

`quality.py` prints it of the even questions. `python tests/benchmarks/first_hit.py --data FOLDER [--cache FOLDER]`
learns the three numbers of `infospace.search.certainty.first_hit` on the odd ones, and says how often what has a
confidence is right on the even ones, also of a collection that was not learnt from.

What bounds it: AUROC of even questions with and without their answers, and its 95 % interval less that of now
(bootstrap by question). Learnt on odd questions of the same collection, or of the other two. Boosted trees and a
logistic model had 44 numbers of a search: best cosines, their leads and spread, BM25 in the same forms, how the two
rankings agree, the request's words that are covered and are not, how alike the hits are, everyday requests. Numbers
that depend on what was taken away, whatever is asked, were left out: with them trees seemed to reach .808 on
metatool-dev.

| what | cranfield | metatool-dev | sealtools-dev |
|---|---|---|---|
| now | .748 | .629 | .774 |
| trees, the same collection | .779 [.003, .065] | .653 [-.008, .060] | .894 [.085, .154] |
| logistic, the same collection | .791 [.016, .072] | .687 [.031, .088] | .892 [.087, .150] |
| trees, the other two | .763 [-.024, .054] | .602 [-.049, -.003] | .828 [.029, .081] |
| logistic, the other two | .794 [.009, .084] | .602 [-.051, -.001] | .867 [.066, .119] |
| the 21 best cosines, trees, the same collection | .726 [-.038, -.002] | .624 [-.024, .016] | .772 [-.011, .009] |
| now and the lead of BM25 over the next ten, all three | .772 [-.002, .051] | .634 [-.004, .015] | .877 [.075, .130] |
| the same, the other two | .707 [-.079, .000] | .630 [-.008, .011] | .879 [.073, .138] |
| now and the cosine rank of the best by words, all | .757 [-.021, .039] | .639 [-.007, .029] | .787 [-.008, .034] |
| now and that lead by the words' idf, all three | .773 [-.005, .056] | .628 [-.012, .011] | .813 [.019, .060] |
| who knows whether the first hit is right, (1 + share) / 2 | .862 | .705 | .890 |

Cosines hold no more than what is read now. Words do, at the price of BM25 in each search by meaning: on sealtools-dev
in most forms, on cranfield only by dozens of numbers. Nothing gains on all three where that was not learnt from, and on
metatool-dev nothing does but dozens of numbers learnt there. There the first hit is right in .410 only, so .80 is
beyond who knows no more than that. Questions whose first hit is right are told from the same without their answers by
.858, .820 and .852 now; those whose first hit is wrong from all without by .54, .54 and .57: there it changes little
that answers are taken away. Twins that stay in the space bound little: the first that is left has a cosine of .9 with
what was taken away in none, of .8 in .10, .00 and .08, and of questions where it has not it is .757, .629 and .784.
Judgements of cranfield have one grade, and all that are judged to answer were taken away.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from collected import auroc
from numpy.typing import NDArray

from infospace import Space
from infospace.core.ids import number_of
from infospace.core.listener import NullListener
from infospace.search.certainty.first_hit import NEIGHBOURS
from infospace.search.embedding.everyday_requests import EVERYDAY
from infospace.search.query import SearchQuery

if TYPE_CHECKING:
    from quality import Collection

TALK = Path(__file__).with_name("small_talk.json")
SIZES = (12, 40, 100, 400)
"""Notes of drawn spaces; the whole collection is another one."""

DRAWN = 0.6
"""Share of the questions that a drawn space is asked."""

KINDS = {"with": 2.0, "without": 1.6, "talk": 0.4}
"""What is asked, and what each counts: with its answers in the space, without them, small talk."""

RESAMPLES = 1_000
RIDGE = 5.0


@dataclass(frozen=True)
class Told:
    """Confidences, and whether the first was right: by questions with their answers, without them, and small talk."""

    confidences: list[float]
    right: list[bool]


def first_hits(collection: Collection, space: Space) -> dict[str, Told]:
    """Ask the even questions of the whole collection."""
    everything = range(len(collection.documents))
    found = {kind: Told([], []) for kind in KINDS}
    for question in collection.questions[1::2]:
        good = set(collection.grades[question["_id"]])
        _ask(space, question["text"], everything, good, found["with"])
        _ask(space, question["text"], [at for at in everything if at not in good], set(), found["without"])
    for text in json.loads(TALK.read_text(encoding="utf-8")):
        _ask(space, text, everything, set(), found["talk"])
    return found


def _ask(space: Space, text: str, among: Sequence[int], good: set[int], told: Told) -> None:
    wanted = SearchQuery(text, 1, -1.0, within=np.array(among, np.int64) + 1, certify=True)
    answer = space.search.find(wanted, NullListener())
    told.confidences.append(answer.certificate["confidence"])
    told.right.append(number_of(answer.hits[0].source) - 1 in good)


def print_told(table: Mapping[str, Mapping[str, Told]]) -> None:
    """Print how well confidence tells questions with answers from others, and a right first hit from a wrong one."""
    print("\nConfidence in the first hit, even questions: AUROC [95 %]")
    print(" " * 42, *(f"{name:>26}" for name in table))
    for label, first, others in (
        ("answers there, answers taken away", "with", "without"),
        ("answers there, small talk", "with", "talk"),
    ):
        cells = [
            _with_interval(np.array(one[first].confidences), np.array(one[others].confidences))
            for one in table.values()
        ]
        print(f"{label:<42}", *(f"{cell:>26}" for cell in cells))
    cells = []
    for one in table.values():
        told, right = (
            np.concatenate([getattr(kind, part) for kind in one.values()]) for part in ("confidences", "right")
        )
        cells.append(_with_interval(told[right], told[~right]))
    print(f"{'first hit right, wrong or nothing right':<42}", *(f"{cell:>26}" for cell in cells))
    shares = [f"{np.mean(one['with'].right):.3f}" for one in table.values()]
    print(f"{'share of first hits right, answers there':<42}", *(f"{cell:>26}" for cell in shares))


def _with_interval(some: NDArray[np.float64], others: NDArray[np.float64]) -> str:
    rng = np.random.default_rng(1)
    drawn = [auroc(rng.choice(some, len(some)), rng.choice(others, len(others))) for _ in range(RESAMPLES)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{auroc(some, others):.3f} [{low:.3f}, {high:.3f}]"


@dataclass(frozen=True)
class Row:
    """One question of one space: which half, how many Notes, whether its first hit was right, and the two numbers."""

    source: str
    kind: str
    size: int
    half: int
    right: bool
    numbers: tuple[float, float]


def _scores(space: Space, texts: Sequence[str], count: int) -> NDArray[np.float32]:
    """The best cosine of each Note, by number from 1, for each text: (texts, Notes)."""
    vectors = space.embedding.queries(texts)
    found = np.full((len(texts), count), -1.0, np.float32)
    with space.store.reading() as snapshot:
        rows = snapshot.rows(space.embedding.key)
    for owner, vector in zip(rows.owners, rows.vectors, strict=True):
        found[:, owner - 1] = np.maximum(found[:, owner - 1], vectors @ vector)
    return found


def _numbers(scores: NDArray[np.float32]) -> tuple[float, float]:
    best = np.sort(scores)[::-1][: NEIGHBOURS + 1]
    return float(best[0]), float(best[0] - best[1:].mean())


def gather(name: str, collection: Collection, space: Space) -> Iterator[Row]:
    """Ask one collection, whole and in drawn parts; everyday requests are small talk to learn from."""
    rng, count = np.random.default_rng(3), len(collection.documents)
    asked = _scores(space, [one["text"] for one in collection.questions], count)
    talk = [(0, row) for row in _scores(space, EVERYDAY[::2], count)]
    talk += [(1, row) for row in _scores(space, json.loads(TALK.read_text(encoding="utf-8")), count)]
    for size in (*(size for size in SIZES if size < count), count):
        for at, question in enumerate(collection.questions):
            if size < count and rng.random() > DRAWN:
                continue
            good = np.array(sorted(collection.grades[question["_id"]]))
            others = np.setdiff1d(np.arange(count), good)
            good = good if size == count else good[: max(1, size // 3)]
            drawn = rng.choice(others, min(size - len(good), len(others)), replace=False)
            here = asked[at][np.concatenate([good, drawn])]
            yield Row(name, "with", size, at % 2, int(here.argmax()) < len(good), _numbers(here))
            yield Row(name, "without", size, at % 2, False, _numbers(asked[at][drawn]))
        for half, row in talk:
            yield Row(name, "talk", size, half, False, _numbers(row[rng.choice(count, size, replace=False)]))


def _weights(rows: Sequence[Row]) -> NDArray[np.float64]:
    """Collections and sizes count alike, kinds as `KINDS` says."""
    keys = [(row.source, row.kind, row.size) for row in rows]
    counts = Counter(keys)
    return np.array([KINDS[key[1]] / counts[key] for key in keys]) * len(rows) / len(counts)


def learn(rows: Sequence[Row]) -> NDArray[np.float64]:
    """Return intercept and coefficients."""
    from finding_confidence import logistic

    numbers, right = np.array([row.numbers for row in rows]), np.array([float(row.right) for row in rows])
    return logistic(numbers, right, _weights(rows), RIDGE)


def report(rows: Sequence[Row]) -> None:
    """Print what was learnt on the odd questions, and how it holds on the even ones."""
    odd, even = ([row for row in rows if row.half == half] for half in (0, 1))
    learnt = learn(odd)
    print(f"intercept {learnt[0]:.2f}, best {learnt[1]:.2f}, lead {learnt[2]:.2f}")
    for name in dict.fromkeys(row.source for row in rows):
        apart = learn([row for row in odd if row.source != name])
        own = [row for row in even if row.source == name]
        odds = np.array([row.numbers for row in own]) @ apart[1:] + apart[0]
        right = np.array([row.right for row in own])
        print(f"{name}, learnt on the others: right or not {_with_interval(odds[right], odds[~right])}")
    told = 1 / (1 + np.exp(-(np.array([row.numbers for row in even]) @ learnt[1:] + learnt[0])))
    right, weights = np.array([float(row.right) for row in even]), _weights(even)
    for low in np.arange(0, 1, 0.1):
        some = (told >= low) & (told < low + 0.1)
        if some.any():
            share = np.average(right[some], weights=weights[some])
            print(f"  confidence {low:.1f} to {low + 0.1:.1f}: right in {share:.2f} of {some.sum():,}")


def main() -> None:
    """Learn and print."""
    from quality import NAMES, _filled, read

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder of collections")
    parser.add_argument("--cache", type=Path, help="where spaces are kept")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache = args.cache or Path(folder)
        cache.mkdir(parents=True, exist_ok=True)
        rows: list[Row] = []
        for name in NAMES:
            collection = read(args.data / name)
            with _filled(cache / f"{name}.db", collection) as space:
                rows += gather(name, collection, space)
    report(rows)


if __name__ == "__main__":
    main()
