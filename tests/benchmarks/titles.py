"""How well pages are found by what they are called and said to be: exact titles and descriptions, in the three modes.

`python tests/benchmarks/titles.py --data FOLDER [--pages N]`; FOLDER is a collection whose documents begin with their
titles, as those of Cranfield. Of its first N documents a vault is made as people have it: a file is named by its title
and has no heading of level 1, its next sentence is the `description`, and neither is in the text, which has headings of
its own.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from infospace import open_space
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from infospace.search.query import Mode, SearchQuery

PAGES = 400
LONGEST_TITLE = 120
"""Characters of a title that is a file's name."""
LEAST_SENTENCES = 4
DEPTH = 50
MODES: tuple[Mode, ...] = ("semantic", "keyword", "hybrid")
_SENTENCE = re.compile(r"\s*\.\s{2,}")
_ODD = re.compile(r"[^\w ,'()-]+")


class Page(NamedTuple):
    """A page: what it is called, what is said of it, its text."""

    title: str
    description: str
    text: str


def pages(folder: Path, count: int) -> Iterator[Page]:
    """Give so many documents as pages, each title once; those that have too little text are left out."""
    seen = set()
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        for document in map(json.loads, lines):
            sentences = [one for one in _SENTENCE.split(f"{document['title']} .  {document['text']}") if one.strip()]
            said, *own = sentences or [""]
            title = " ".join(_ODD.sub(" ", said).split())[:LONGEST_TITLE].strip()
            own = [sentence for sentence in own if sentence.strip() != said.strip()]
            if not title or title in seen or len(own) < LEAST_SENTENCES:
                continue
            seen.add(title)
            yield Page(title, own[0].strip(), ". ".join(own[1:]))
            if len(seen) == count:
                return


def write(vault: Path, page: Page) -> Path:
    """Write a page's file."""
    middle = len(page.text) // 2
    at = page.text.find(" ", middle)
    body = f"## Method\n\n{page.text[:at]}\n\n## Result\n\n{page.text[at + 1 :]}\n"
    path = vault / f"{page.title}.md"
    path.write_text(f"---\ndescription: {json.dumps(page.description)}\n---\n{body}", encoding="utf-8")
    return path


def main() -> None:
    """Print the share of titles that give their page first, and the mean reciprocal rank of descriptions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a collection")
    parser.add_argument("--pages", type=int, default=PAGES, metavar="N")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        vault = Path(name) / "vault"
        vault.mkdir()
        made = list(pages(args.data, args.pages))
        for page in made:
            write(vault, page)
        with open_space(Path(name) / "space.db") as space:
            import_paths(space, [vault], NullListener())
            space.embedding.catch_up(NullListener())
            with space.store.reading() as snapshot:
                paths = {file.note: file.path for file in snapshot.tracked()}

            def rank(query: str, page: Page, mode: Mode) -> float:
                threshold = None if mode == "keyword" else -1.0
                found = space.search.find(SearchQuery(query, DEPTH, threshold, mode), NullListener())
                places = [paths[hit.source] for hit in found.hits]
                wanted = f"{page.title}.md"
                return 1 / (places.index(wanted) + 1) if wanted in places else 0.0

            print(f"{len(made)} pages; exact titles first, reciprocal rank of descriptions (95 % by normal interval)")
            for mode in MODES:
                titles = np.array([rank(page.title, page, mode) == 1 for page in made])
                described = np.array([rank(page.description, page, mode) for page in made])
                spread = 1.96 * described.std() / np.sqrt(len(made))
                print(f"{mode:<10}{titles.mean():>8.3f}{described.mean():>8.3f} ± {spread:.3f}")


if __name__ == "__main__":
    main()
