"""How good what is found is: NDCG@10 of the three modes on judged collections, beside plain methods.

`python tests/benchmarks/quality.py --data FOLDER [--cache FOLDER] [NAME …]`; FOLDER holds collections, each with
`corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`) and `qrels/test.tsv`. Each document is a
Note. The weight of BM25 in `hybrid` was chosen on the odd questions of cranfield, metatool-dev and sealtools-dev,
so the even ones, and collections that are not among these, are what counts. With `--cache` spaces and vectors are
kept for the next time.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infospace import Space, open_space
from infospace.core.ids import Kind, number_of
from infospace.core.listener import NullListener
from infospace.data.stopwords import STOP
from infospace.search.embedding.embedder import Embedder
from infospace.search.models.find import get_model
from infospace.search.query import Mode, SearchQuery
from infospace.store.changes import MakeNote

NAMES = ("cranfield", "metatool-dev", "sealtools-dev")
MOST = 400
"""Questions of one collection; the first ones."""

DEPTH = 10
K1, B = 0.9, 0.4
RANK_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009)."""

Rank = Callable[[str], list[int]]


@dataclass(frozen=True)
class Collection:
    """Documents as texts, questions, and the grades of documents by question."""

    documents: list[dict[str, str]]
    questions: list[dict[str, str]]
    grades: dict[str, dict[int, int]]

    @property
    def texts(self) -> list[str]:
        """Title and text of each document."""
        return [f"{one['title']}\n\n{one['text']}" if one["title"] else one["text"] for one in self.documents]


def read(folder: Path) -> Collection:
    """Read a collection."""
    documents = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    questions = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    places = {one["_id"]: at for at, one in enumerate(documents)}
    grades: dict[str, dict[int, int]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, document, grade = line.split("\t")
        if document in places and int(grade) > 0:
            grades.setdefault(question, {})[places[document]] = int(grade)
    return Collection(documents, [one for one in questions if one["_id"] in grades][:MOST], grades)


def ndcg(ranked: Sequence[int], grades: dict[int, int], depth: int = DEPTH) -> float:
    """Normalised discounted cumulative gain with linear gains (Järvelin, Kekäläinen 2002)."""
    discount = [1 / math.log2(place + 2) for place in range(depth)]
    gained = sum(grades.get(one, 0) * by for one, by in zip(ranked, discount, strict=False))
    best = sum(grade * by for grade, by in zip(sorted(grades.values(), reverse=True), discount, strict=False))
    return gained / best


def light_tokens(text: str) -> list[str]:
    """Words in small letters without stop words, and without the endings of plurals (Harman's S stemmer, 1991)."""
    return [_singular(word) for word in re.findall(r"[^\W_]+", text.lower()) if word not in STOP]


def _singular(word: str) -> str:
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    kept = ("aes", "ees", "oes") if word.endswith("es") else ("us", "ss")
    return word[:-1] if word.endswith("s") and not word.endswith(kept) else word


class PlainBm25:
    """BM25 by its formula, k1 0.9 and b 0.4, with light stemming."""

    def __init__(self, texts: Iterable[str]) -> None:
        counts = [Counter(light_tokens(text)) for text in texts]
        lengths = np.array([count.total() for count in counts])
        self._norm = K1 * (1 - B + B * lengths / lengths.mean())
        self._having: dict[str, list[tuple[int, int]]] = {}
        for at, count in enumerate(counts):
            for word, times in count.items():
                self._having.setdefault(word, []).append((at, times))

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return the score of every document."""
        found = np.zeros(len(self._norm))
        for word in set(light_tokens(query)):
            having = self._having.get(word, [])
            weight = math.log(1 + (len(self._norm) - len(having) + 0.5) / (len(having) + 0.5))
            for at, times in having:
                found[at] += weight * times * (K1 + 1) / (times + self._norm[at])
        return found


def best(scores: NDArray[Any], count: int | None = DEPTH) -> list[int]:
    """Return the places of the highest scores, ties by place."""
    return np.lexsort((np.arange(len(scores)), -scores))[:count].tolist()


def fused(*rankings: Sequence[int]) -> list[int]:
    """Return the first ten by reciprocal ranks."""
    scores: defaultdict[int, float] = defaultdict(float)
    for ranking in rankings:
        for place, one in enumerate(ranking, start=1):
            scores[one] += 1 / (RANK_CONSTANT + place)
    return sorted(scores, key=lambda one: (-scores[one], one))[:DEPTH]


def methods(collection: Collection, space: Space, whole: NDArray[np.float32], embedder: Embedder) -> dict[str, Rank]:
    """Return what is compared: a question to the places of the ten best documents."""
    bm25 = PlainBm25(collection.texts)

    def by(mode: Mode, threshold: float | None) -> Rank:
        def rank(query: str) -> list[int]:
            found = space.search.find(SearchQuery(query, DEPTH, threshold, mode), NullListener())
            return [number_of(hit.source) - 1 for hit in found.hits]

        return rank

    def plain(query: str) -> NDArray[np.float32]:
        return np.vecdot(whole, embedder.embed_query(query))

    return {
        "semantic": by("semantic", -1),
        "keyword": by("keyword", None),
        "hybrid": by("hybrid", None),
        "plain BM25": lambda query: best(bm25.scores(query)),
        "plain MiniLM": lambda query: best(plain(query)),
        "both, reciprocal ranks": lambda query: fused(best(bm25.scores(query), 1_000), best(plain(query), 1_000)),
    }


def measure(folder: Path, cache: Path) -> dict[str, tuple[float, float]]:
    """Return mean NDCG@10 of each method on the odd and on the even questions."""
    collection = read(folder)
    embedder = Embedder(get_model())
    with _filled(cache / f"{folder.name}.db", collection) as space:
        compared = methods(collection, space, _whole(cache / f"{folder.name}.npy", collection, embedder), embedder)
        gains = {
            name: [ndcg(rank(one["text"]), collection.grades[one["_id"]]) for one in collection.questions]
            for name, rank in compared.items()
        }
    return {name: (float(np.mean(found[::2])), float(np.mean(found[1::2]))) for name, found in gains.items()}


def _filled(path: Path, collection: Collection) -> Space:
    """A space with a Note of each document, in their order, embedded."""
    space = open_space(path)
    with space.store.reading() as snapshot:
        there = snapshot.count(Kind.NOTE)
    if not there:
        notes = [MakeNote(space.store.new_id(Kind.NOTE), text, kept=True) for text in collection.texts]
        space.store.commit(notes)
    space.embedding.catch_up(NullListener())
    return space


def _whole(path: Path, collection: Collection, embedder: Embedder) -> NDArray[np.float32]:
    """Vectors of whole documents, cut off by the model where it ends."""
    if not path.exists():
        np.save(path, embedder.embed(collection.texts))
    return np.asarray(np.load(path))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME", help="folders in the data folder")
    parser.add_argument("--data", type=Path, required=True, help="a folder of collections")
    parser.add_argument("--cache", type=Path, help="where spaces and vectors are kept")
    parser.add_argument("--out", type=Path, help="a file for the figures as JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache = args.cache or Path(folder)
        cache.mkdir(parents=True, exist_ok=True)
        table = {name: measure(args.data / name, cache) for name in args.names}
    print("NDCG@10, odd / even questions")
    print(" " * 24, *(f"{name:>16}" for name in table))
    for method in next(iter(table.values())):
        cells = [f"{found[method][0]:.3f} / {found[method][1]:.3f}" for found in table.values()]
        print(f"{method:<24}", *(f"{cell:>16}" for cell in cells))
    if args.out is not None:
        args.out.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
