"""What else was tried in `hybrid` from the same weights: NDCG@10, chosen on odd questions and told of even ones.

`python tests/benchmarks/ablations.py --data FOLDER [--cache FOLDER] [--late] [NAME …]`; folders are those of
`quality.py`, and so is the cache. Of each method the setting is taken that is best on the odd questions; its difference
from `hybrid` on the even ones stands with the 95 % interval of a paired bootstrap, and with the milliseconds that it
adds to a search. `--late` also computes the vectors of all tokens of the 50 best documents, which takes minutes.

Seen on the even questions less hybrid, which has .582 on cranfield, .600 on metatool-dev and .926 on sealtools-dev,
95 %; CPU on cranfield. Nothing is kept so far. Vector feedback loses on sealtools-dev. Collocations and questions in
parts gain there, whose texts are descriptions of tools, and nowhere else. Late interaction, which is for short texts
alone, needs the vectors of all tokens, which its milliseconds leave out.

| method | cranfield | metatool-dev | sealtools-dev | CPU, ms |
|---|---|---|---|---|
| vector feedback of 5 hits | +.011 [.001, .022] | +.011 [-.002, .024] | -.002 [-.004, -.001] | .4 |
| RM3, 20 words of 5 hits | +.009 [-.001, .021] | -.003 [-.009, .003] | -.001 [-.002, -.001] | 4.4 |
| less of hubs | +.002 [-.003, .009] | +.008 [.000, .017] | +.001 [-.004, .007] | .2 |
| reciprocal ranks added | +.001 [-.005, .007] | .000 [-.006, .005] | -.001 [-.001, .000] | .3 |
| words by the question's length | +.002 [-.003, .006] | -.002 [-.012, .007] | +.002 [-.002, .006] | .1 |
| collocations | -.001 [-.017, .015] | +.001 [.000, .002] | +.022 [.012, .033] | 2.3 |
| questions in parts | +.002 [-.001, .004] | -.003 [-.012, .007] | +.020 [.013, .029] | 4.1 |
| mean of passages | -.001 [-.005, .003] | .000 [.000, .000] | .000 [.000, .000] | .2 |
| first 200 characters as a field | +.005 [-.001, .011] | -.010 [-.021, .001] | +.008 [.001, .014] | .6 |
| late interaction, 50 best | .000 [-.008, .007] | +.030 [.014, .046] | -.003 [-.006, -.001] | .1 |
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from collected import interval
from numpy.typing import NDArray
from quality import NAMES, Collection, PlainBm25, _filled, best, light_tokens, ndcg, read

from infospace import Space
from infospace.search.embedding.everyday_requests import EVERYDAY
from infospace.search.embedding.runtimes import Direct, tokenizer_of
from infospace.search.hybrid import BM25_PER_COSINE
from infospace.search.models.find import get_model
from infospace.store.note_fields import field_at

Scores = NDArray[np.float64]
BEST = 50
FEEDBACK = 5
WORDS_FED_BACK = 20


@dataclass(frozen=True)
class Searched:
    """One collection with the parts of its scores: cosines and BM25, (questions, documents); vectors of passages."""

    name: str
    collection: Collection
    cosines: Scores
    bm25: Scores
    questions: NDArray[np.float32]
    passages: NDArray[np.float32]
    owners: NDArray[np.int64]
    everyday: NDArray[np.float32]

    @property
    def texts(self) -> list[str]:
        """What was asked."""
        return [one["text"] for one in self.collection.questions]

    def hybrid(self, cosines: Scores | None = None, bm25: Scores | None = None) -> Scores:
        """Return cosine + BM25 / 50."""
        meaning = self.cosines if cosines is None else cosines
        return meaning + (self.bm25 if bm25 is None else bm25) / BM25_PER_COSINE

    def by_passages(self, vectors: NDArray[np.float32]) -> Scores:
        """Return the best cosine of each document's passages to each of some vectors, (vectors, documents)."""
        found = np.full((len(vectors), len(self.collection.documents)), -1.0)
        products = np.array([np.vecdot(self.passages, vector) for vector in vectors])
        np.maximum.at(found, (slice(None), self.owners), products)
        return found

    def gains(self, scores: Scores) -> list[float]:
        """Return NDCG@10 of each question."""
        grades = self.collection.grades
        return [ndcg(best(row), grades[one["_id"]]) for row, one in zip(scores, self.collection.questions, strict=True)]


def searched(space: Space, name: str, collection: Collection) -> Searched:
    """Compute the parts of the scores of all questions."""
    count, key = len(collection.documents), space.embedding.key
    texts = [one["text"] for one in collection.questions]
    questions = space.embedding.queries(texts)
    with space.store.reading() as snapshot:
        rows = snapshot.rows(key, list(range(1, count + 1)))
        passages = np.array([field_at(start) is None for start in rows.starts.tolist()])
        bm25 = np.zeros((len(texts), count))
        for row, text in zip(bm25, texts, strict=True):
            words = snapshot.keyword_matches(text)
            if words is None:
                raise RuntimeError("the space does not search by words")
            row[words.numbers - 1] = words.scores
    found = Searched(
        name,
        collection,
        np.zeros(0),
        bm25,
        questions,
        rows.vectors[passages].astype(np.float32),
        rows.owners[passages] - 1,
        space.embedding.queries(EVERYDAY),
    )
    return Searched(**{**vars(found), "cosines": found.by_passages(questions)})


Method = Callable[[Searched, float], Scores]


def vector_feedback(of: Searched, share: float) -> Scores:
    """Rocchio with vectors: the question moves to the mean of the passages that are nearest in the first hits."""
    order = np.argsort(-of.hybrid(), axis=1, kind="stable")[:, :FEEDBACK]
    moved = []
    for question, first in zip(of.questions, order, strict=True):
        near = [of.passages[of.owners == one] for one in first]
        centre = np.mean([rows[np.argmax(np.vecdot(rows, question))] for rows in near if len(rows)], axis=0)
        vector = (1 - share) * question + share * centre
        moved.append(vector / np.linalg.norm(vector))
    return of.hybrid(of.by_passages(np.array(moved, np.float32)))


def rm3(of: Searched, share: float) -> Scores:
    """RM3 (Abdul-Jaleel and others 2004): the commonest words of the first hits are looked for too."""
    plain = PlainBm25(of.collection.texts)
    words = [light_tokens(text) for text in of.collection.texts]
    found = of.bm25.copy()
    for place, total in enumerate(of.hybrid()):
        first = best(total, FEEDBACK)
        weights: dict[str, float] = {}
        for at in first:
            for word in words[at]:
                weights[word] = weights.get(word, 0.0) + max(float(total[at]), 0.0) / max(len(words[at]), 1)
        fed = sorted(weights, key=lambda word: -weights[word])[:WORDS_FED_BACK]
        most = sum(weights[word] for word in fed) or 1.0
        extra = sum((weights[word] / most * plain.scores(word) for word in fed), np.zeros(len(total)))
        found[place] += share * WORDS_FED_BACK * extra
    return of.hybrid(bm25=found)


def without_hubs(of: Searched, share: float) -> Scores:
    """Take from each document what everyday requests have of it on average: hubs are near to anything."""
    common = of.by_passages(of.everyday).mean(axis=0)
    return of.hybrid(of.cosines - share * (common - common.mean()))


def by_ranks(of: Searched, share: float) -> Scores:
    """Add reciprocal ranks (constant 60) of both ways to the scores."""
    found = of.hybrid()
    for scores in (of.cosines, of.bm25):
        ranks = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
        found = found + share * 61 / (61 + ranks)
    return found


def by_length(of: Searched, share: float) -> Scores:
    """Words weigh more or less the more words a question has, as against the median question."""
    lengths = np.array([max(len(light_tokens(text)), 1) for text in of.texts])
    return of.cosines + of.bm25 / BM25_PER_COSINE * (lengths / np.median(lengths))[:, None] ** share


def collocations(of: Searched, share: float) -> Scores:
    """Two words that follow each other in a question and in a document count as a word of their own."""
    pairs = PlainBm25([" ".join(_pairs(text)) for text in of.collection.texts])
    extra = np.array([pairs.scores(" ".join(_pairs(text))) for text in of.texts])
    return of.hybrid(bm25=of.bm25 + share * extra)


def _pairs(text: str) -> Iterator[str]:
    words = light_tokens(text)
    return (f"{one}0{other}" for one, other in pairwise(words))


def in_parts(of: Searched, share: float) -> Scores:
    """A question of two things joined by `and` or a comma is also compared by each of them, the best counts."""
    found = of.cosines.copy()
    embedder = _embedder()
    for row, text in zip(found, of.texts, strict=True):
        parts = [part for part in re.split(r"\band\b|[,;?.]", text) if len(light_tokens(part)) >= 2]
        if len(parts) > 1:
            row[:] = (1 - share) * row + share * of.by_passages(embedder(parts)).max(axis=0)
    return of.hybrid(found)


def mean_passage(of: Searched, share: float) -> Scores:
    """A document's mean vector is a view of its own beside its best passage."""
    sums = np.zeros((len(of.collection.documents), of.passages.shape[1]), np.float32)
    np.add.at(sums, of.owners, of.passages)
    sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    mean = np.array([np.vecdot(sums, question) for question in of.questions])
    return of.hybrid((1 - share) * of.cosines + share * mean)


def first_words(of: Searched, share: float) -> Scores:
    """The beginning of a document, where it says what it is about, is a field with a weight of its own."""
    beginnings = PlainBm25([text[:200] for text in of.collection.texts])
    extra = np.array([beginnings.scores(text) for text in of.texts])
    return of.hybrid(bm25=of.bm25 + share * extra)


def _embedder() -> Callable[[Sequence[str]], NDArray[np.float32]]:
    from infospace.search.embedding.embedder import Embedder

    return Embedder(get_model()).embed_queries


METHODS: Mapping[str, tuple[Method, Sequence[float]]] = {
    "vector feedback of 5 hits": (vector_feedback, (0.1, 0.2, 0.3, 0.4)),
    "RM3, 20 words of 5 hits": (rm3, (0.02, 0.05, 0.1, 0.2)),
    "less of hubs (everyday requests)": (without_hubs, (0.25, 0.5, 1.0)),
    "reciprocal ranks added": (by_ranks, (0.02, 0.05, 0.1, 0.2)),
    "words weigh by the question's length": (by_length, (-0.5, -0.25, 0.25, 0.5)),
    "collocations": (collocations, (0.1, 0.25, 0.5, 1.0)),
    "questions in parts": (in_parts, (0.25, 0.5)),
    "mean of passages beside the best": (mean_passage, (0.1, 0.25, 0.5)),
    "first 200 characters as a field": (first_words, (0.1, 0.25, 0.5)),
}


def late(of: Searched) -> Scores:
    """Return MaxSim (Khattab, Zaharia 2020) of the 50 best of each question, 0 of others: the mean over its tokens."""
    model = get_model()
    tokenizer = tokenizer_of(model)
    tokenizer.enable_truncation(model.max_tokens)
    session: Any = Direct(model, tokenizer)._session

    def tokens(text: str) -> NDArray[np.float32]:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        states = session.run(
            None, {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        )[0][0]
        return np.asarray(states / np.linalg.norm(states, axis=1, keepdims=True), np.float32)

    asked = [tokens(text)[1:-1] for text in of.texts]
    found = np.zeros_like(of.bm25)
    chosen = [set(best(row, BEST)) for row in of.hybrid()]
    for at, text in enumerate(of.collection.texts):
        those = [place for place, some in enumerate(chosen) if at in some]
        if those:
            own = tokens(text)[1:-1]
            for place in those:
                found[place, at] = np.einsum("td,qd->qt", own, asked[place]).max(axis=1).mean()
    return found


def with_late(found: Scores) -> Method:
    """Add so much of it; the 50 best stay before all others."""

    def method(of: Searched, share: float) -> Scores:
        return np.where(found != 0, of.hybrid() + share * found + 10, of.hybrid())

    return method


def compare(of: Searched, methods: Mapping[str, tuple[Method, Sequence[float]]]) -> None:
    """Print what each method has beyond hybrid on the even questions, by its best setting on the odd ones."""
    ours = of.gains(of.hybrid())
    print(f"\n{of.name}: hybrid {np.mean(ours[::2]):.3f} odd, {np.mean(ours[1::2]):.3f} even")
    for name, (method, settings) in methods.items():
        begun = time.process_time()
        table = {setting: of.gains(method(of, setting)) for setting in settings}
        cost = (time.process_time() - begun) / len(settings) / len(ours) * 1000
        chosen = max(table, key=lambda setting: float(np.mean(table[setting][::2])))
        odd = np.mean(table[chosen][::2]) - np.mean(ours[::2])
        even = np.mean(table[chosen][1::2]) - np.mean(ours[1::2])
        low, high = interval(table[chosen][1::2], ours[1::2])
        print(f"{name:<38}{chosen:>7g}{odd:>+8.3f}{even:>+8.3f} [{low:+.3f}, {high:+.3f}] {cost:>7.1f} ms", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME", help="folders in the data folder")
    parser.add_argument("--data", type=Path, required=True, help="a folder of collections")
    parser.add_argument("--cache", type=Path, help="where spaces are kept")
    parser.add_argument("--late", action="store_true", help="also late interaction over the vectors of tokens")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache = args.cache or Path(folder)
        cache.mkdir(parents=True, exist_ok=True)
        for name in args.names:
            collection = read(args.data / name)
            with _filled(cache / f"{name}.db", collection) as space:
                of = searched(space, name, collection)
            compare(of, METHODS)
            if args.late:
                compare(of, {"late interaction, 50 best": (with_late(late(of)), (0.25, 0.5, 1.0, 2.0))})


if __name__ == "__main__":
    main()
