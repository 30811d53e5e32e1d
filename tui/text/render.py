"""How answers look to a person: hits as a table, certificates as a sentence, notes as text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import combining, normalize

from tui.text.output import escape_controls

if TYPE_CHECKING:
    from rich.table import Table

    from infospace.core.resources import Location
    from infospace.search.certainty.recall import RecallEstimate

SNIPPET = 160
"""Characters of a passage shown beside its title."""
PART = 60
"""Characters of a part of a request that its explanation begins with."""
HEADINGS = " › "
BEFORE, BEHIND = 40, 20
"""Characters shown before a word that was looked for, and at least from its beginning on."""
PLACES = {
    "found": "notes that were found",
    "below": "notes below them, of about one rank,",
    "unscored": "notes that were not compared",
}
"""What the parts of a ranking are called of which notes are drawn to be judged."""
_WORD = re.compile(r"\w+")
_LEAST_SHARED = 0.3


def location_json(location: Location | None) -> dict[str, str | None]:
    """Return where a file lies as the members of a JSON object, null for what is none."""
    if location is None:
        return {"path": None, "folder": None, "root": None}
    return {"path": location.path, "folder": location.folder, "root": location.root}


def hits_table(hits: Sequence[Mapping[str, Any]], words: Sequence[str] = ()) -> Table:
    """Return search results as a table: rank, score, id, title with the passage that fits, or a tool's description.

    Where the search looked for `words`, the part of a passage is shown that has one. The passage stands below the
    headings of its note.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1), show_header=True, header_style="dim")
    table.add_column("#", justify="right")
    table.add_column("score")
    table.add_column("note", no_wrap=True)
    table.add_column("title and passage")
    places = [key for key in ("path", "root") if _is_informative(key, hits)]
    for place in places:
        table.add_column(place)
    for rank, hit in enumerate(hits, start=1):
        metadata = hit["metadata"]
        title, text = _titled(hit)
        title_text = Text(escape_controls(title) or "(no title)", style="bold")
        if under := headings_of(hit):
            title_text.append("\n" + escape_controls(under), style="not bold italic dim")
        if text:
            title_text.append("\n" + snippet_with(words, text), style="not bold dim")
        if "explanation" in metadata:
            title_text.append("\n" + format_explanation(metadata["explanation"]), style="not bold italic")
        where = [Text(escape_controls(metadata.get(place) or ""), style="dim") for place in places]
        table.add_row(
            str(rank), _score(metadata["score"]), Text(escape_controls(metadata["source_id"])), title_text, *where
        )
    return table


def _is_informative(place: str, hits: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a column says something: any path, and the roots of files where there are several."""
    results = {hit["metadata"].get(place) for hit in hits}
    return len(results - {None}) > 1 if place == "root" else bool(results - {None})


def headings_of(hit: Mapping[str, Any]) -> str:
    """Return under which headings of its text a hit's passage stands, but for one that is the title; `A › B`."""
    about = hit["metadata"]
    if about.get("passage") is None:
        return ""
    results = about["passage"]["headings"]
    return HEADINGS.join(results[1:] if results and results[0] == about.get("title") else results)


def _score(score: float | None) -> str:
    """Of a result of somebody's tool there may be none."""
    return "" if score is None else f"{score:.3f}"


def _titled(hit: Mapping[str, Any]) -> tuple[str, str]:
    """A hit's title and what is shown of its text: of a tool its full name and its description."""
    metadata = hit["metadata"]
    if metadata["type"] == "Tool":
        return metadata["tool"], hit["text"]
    title, passage = metadata["title"], metadata["passage"]
    if passage is None:
        return title or "", ""
    return title or "", _without_heading(passage["text"], (title, *passage["headings"][-1:]))


def _without_heading(text: str, shown: Sequence[object]) -> str:
    """Leave out a heading that only says again what is shown above it: the title, or the last of the headings."""
    first, _, rest = text.partition("\n")
    return rest if rest.strip() and first.strip("# ") in shown else text


def snippet(text: str, most: int = SNIPPET) -> str:
    """Return the beginning of a text on one line."""
    line = escape_controls(" ".join(text.split()))
    return line if len(line) <= most else line[: most - 1].rstrip(" …") + "…"


def snippet_with(words: Sequence[str], text: str, most: int = SNIPPET) -> str:
    """Return that part of a text, on one line, which has one of the words that a search looked for."""
    line = " ".join(text.split())
    at = place_of(words, line)
    if at + BEHIND < most:
        return snippet(line, most)
    start = line.rfind(" ", 0, at - BEFORE) + 1 or at - BEFORE
    return f"…{snippet(line[start:], most - 1)}"


def searched_words(extra: Mapping[str, Any]) -> Sequence[str]:
    """Return the words that a search looked for, as the answer of its step tells them."""
    certificate = extra.get("certificate")
    return certificate.get("words", ()) if isinstance(certificate, Mapping) else ()


def place_of(words: Sequence[str], text: str) -> int:
    """Return where the word of a text stands that has most of one of `words` in common with it; 0 where none has.

    Full text compares stems; what two words of one stem do not share stands at their ends.
    """
    best, place = _LEAST_SHARED, 0
    for word in map(_plain, words):
        for match in _WORD.finditer(text):
            own = _plain(match[0])
            inside = own.find(word)
            shared = 1.0 if word == own else 0.9 if inside >= 0 else 0.8 * _begin_alike(word, own) / len(word)
            if shared > best:
                best, place = shared, match.start() + max(inside, 0)
    return place


def _begin_alike(one: str, other: str) -> int:
    """How many characters two words share from their beginning on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))


def _plain(word: str) -> str:
    """A word without accents and capitals."""
    return "".join(sign for sign in normalize("NFKD", word).casefold() if not combining(sign))


def format_certificate(certificate: Mapping[str, Any]) -> str:
    """Say in a sentence what a search proved, and no more."""
    noun = noun_of(certificate)
    matched, returned, searched = certificate["matched"], certificate["returned"], certificate.get(noun)
    if not searched:
        return f"no {noun} to search: none is kept, or none satisfies the condition"
    by_words = "words" in certificate
    if certificate.get("method") == "filter":
        whole = returned == matched
        return f"all {matched:,} {noun} that fit" if whole else f"{returned:,} of {matched:,} {noun} that fit"
    if certificate["threshold"] is None:
        expected = "with a word of the query"
    else:
        expected = f"at or above {certificate['threshold']:.2f}"
        if certificate.get("chance") is not None and "proposed_threshold" not in certificate:
            expected += f" (auto: everyday requests reach {certificate['chance']:.2f})"
        expected += " or with a word of the query" if by_words else ""
    if matched is None:
        message = f"{returned:,} {noun} {expected}, found by the index; `certify` would prove that they are the best"
    elif returned == matched:
        message = f"all {matched:,} of {searched:,} {noun} {expected}"
        if not matched:
            message = f"none of {searched:,} {noun} is {expected}"
    else:
        message = f"{returned:,} of {matched:,} {noun} {expected}, {searched:,} searched"
    if certificate.get("max_below") is not None:
        others = "without a word and below the threshold" if by_words else "below the threshold"
        message += f"; the best {others} has {certificate['max_below']:.3f}"
    if certificate.get("unembedded"):
        how = "searched by words only" if by_words else "not searched"
        message += f"; {certificate['unembedded']:,} not embedded yet, so {how}"
    if certificate.get("words_left_out"):
        message += f"; very common, so not looked for: {', '.join(certificate['words_left_out'])}"
    if certificate.get("proposed_threshold") is not None:
        message += f"; better than chance from {certificate['proposed_threshold']:.2f} on"
    return message


def format_count(certificate: Mapping[str, Any]) -> str:
    """Say in a sentence what a number of matches counts, whatever the limit of the search that told it was."""
    return format_certificate({**certificate, "returned": certificate["matched"]})


def format_recall(results: RecallEstimate) -> str:
    """Say in a sentence how much of what is right a search has found."""
    judged = sum(one.judged for one in results.strata)
    if results.recall is None:
        return f"none of the {judged:,} notes that were judged is right, so nothing is known of recall"
    right = f"about {results.right_found:,.0f} right notes found, about {results.right_missed:,.0f} missed"
    return f"recall {results.recall:.2f} (95 %: {results.low:.2f} to {results.high:.2f}), by {judged:,} judged: {right}"


def strata_lines(results: RecallEstimate) -> list[str]:
    """Say of each part of the ranking how many notes were judged."""
    return [
        f"{one.judged:,} of {one.size:,} {PLACES[one.place]} were judged, {one.right:,} are right"
        for one in results.strata
    ]


def format_explanation(explanation: Mapping[str, Any]) -> str:
    """Say what a score is made of: which part of a note is near the query, and which words it has where."""
    near = [f"{one['part']} {one['cosine']:.3f}" for one in explanation.get("meaning", ())]
    words = [
        f"{escape_controls(one['word'])} {one.get('adds', one['bm25']):.3f} ({', '.join(one['in'])})"
        for one in explanation.get("words", ())
    ]
    messages = [f"meaning: {', '.join(near) or 'not embedded yet'}"] if "meaning" in explanation else []
    if "words" in explanation:
        messages.append(f"words: {', '.join(words) or 'none'}")
    if "whole_title" in explanation:
        messages.append(f"whole title {explanation['whole_title']:.3f}")
    return "; ".join(messages)


def explanation_lines(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say what the relevance of a tool is made of: a line for each part of the request, with what adds to it."""
    lines = []
    for part in parts:
        name = f"“{snippet(part['part'], PART)}”: " if len(parts) > 1 else ""
        lines.append(f"{name}evidence {part['evidence']:.3f} = {' + '.join(_tool_shares(part)) or 'nothing'}")
    return lines


def _tool_shares(part: Mapping[str, Any]) -> list[str]:
    shares = [f"meaning {part['meaning']['adds']:.3f}"] if "meaning" in part else []
    for one in part["words"]:
        suggestion = f" as {one['meant']}" if "meant" in one else ""
        shares.append(
            f"{escape_controls(one['word'])}{escape_controls(suggestion)} {one['adds']:.3f} ({', '.join(one['in'])})"
        )
    others = {"quoted": "says just this", "name": "its name", "past_calls": "called for the like"}
    return shares + [f"{text} {part[key]:.3f}" for key, text in others.items() if key in part]


def noun_of(certificate: Mapping[str, Any]) -> str:
    """Return what a certificate counts."""
    return next((noun for noun in ("notes", "collections", "passages") if noun in certificate), "notes")


def is_cached(extra: Mapping[str, Any]) -> bool:
    """Whether a step has an answer that an earlier run got: of a tool, or of a language model."""
    llm = extra.get("llm")
    return extra.get("cached") is True or (isinstance(llm, Mapping) and bool(llm.get("cached")))


def format_tool_search(extra: Mapping[str, Any]) -> str | None:
    """Say what a search for tools has to say besides its hits: that none fits, or that a leg is down."""
    guess = extra.get("guess")
    nearest = (
        f"; the nearest is {guess['tool']} ({guess['score']:.3f}, {guess['confidence']:.0%} sure)" if guess else ""
    )
    message = [f"no tool fits{nearest}"] if extra.get("no_match") else []
    message += [extra["degraded"]] if "degraded" in extra else []
    return "; ".join(message) or None


def content_text(content: Any) -> str:
    """Return content for reading: text as it is, other JSON indented."""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=2)


def is_hit(content: Any) -> bool:
    """Whether content is that of a search result."""
    return isinstance(content, dict) and set(content) == {"text", "format", "metadata", "char_count"}


def items_table(contents: Sequence[Any]) -> Table:
    """Return the items of a Collection as a table: objects with their keys as columns, other items as lines.

    Objects with many keys are lines, too.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1), show_header=True, header_style="dim")
    table.add_column("#", justify="right")
    keys = _columns(contents)
    for key in keys or ["content"]:
        table.add_column(Text(escape_controls(key)), overflow="ellipsis")
    for rank, content in enumerate(contents, start=1):
        cells = [_cell(content.get(key)) for key in keys] if keys else [_cell(content)]
        table.add_row(str(rank), *(Text(cell) for cell in cells))
    return table


LEAST_WIDTH = 8
"""Cells of a column of rows where the terminal is narrow; one that has less to show takes less."""


def rows_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], width: int) -> tuple[Table, Sequence[str]]:
    """Return rows as a table, each on one line, and those of its columns, the last ones, for which it has no room.

    `width` is in cells of a terminal. What fits is shown whole; the long columns share what is left evenly.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    texts = {column: [_cell(row.get(column)) for row in rows] for column in columns}
    full = {column: max(map(cell_len, [escape_controls(column), *texts[column], "-"])) for column in columns}
    left = width - len(str(len(rows))) - 1
    shown: list[str] = []
    for column in columns:
        if shown and sum(min(full[one], LEAST_WIDTH) + 1 for one in [*shown, column]) > left:
            break
        shown.append(column)
    left -= len(shown)
    widths = dict[str, int]()
    for taken, column in enumerate(sorted(shown, key=full.__getitem__)):
        widths[column] = min(full[column], max(left // (len(shown) - taken), 1))
        left -= widths[column]
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=True, header_style="dim")
    table.add_column("#", justify="right", no_wrap=True, width=len(str(len(rows))))
    for column in shown:
        table.add_column(Text(escape_controls(column)), no_wrap=True, overflow="ellipsis", width=widths[column])
    for rank in range(len(rows)):
        table.add_row(str(rank + 1), *(Text(texts[column][rank]) for column in shown))
    return table, columns[len(shown) :]


def _columns(contents: Sequence[Any]) -> list[str]:
    if not all(isinstance(content, dict) for content in contents):
        return []
    keys = list(dict.fromkeys(key for content in contents for key in content))
    return keys if len(keys) <= 6 else []


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return snippet(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
