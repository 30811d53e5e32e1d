"""How answers look to a person: hits as a table, certificates as a sentence, notes as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

SNIPPET = 160
"""Characters of a passage shown beside its title."""


def hits_table(hits: Sequence[Mapping[str, Any]]) -> Table:
    """Return search results as a table: rank, score, id, title with the passage that fits, or a tool's description."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1), show_header=True, header_style="dim")
    table.add_column("#", justify="right")
    table.add_column("score")
    table.add_column("note", no_wrap=True)
    table.add_column("title and passage")
    for rank, hit in enumerate(hits, start=1):
        metadata = hit["metadata"]
        title, text = _titled(hit)
        shown = Text(title or "(no title)", style="bold")
        if text:
            shown.append("\n" + snippet(text), style="not bold dim")
        table.add_row(str(rank), _score(metadata["score"]), metadata["source_id"], shown)
    return table


def _score(score: float | None) -> str:
    """Of a result of somebody's tool there may be none."""
    return "" if score is None else f"{score:.3f}"


def _titled(hit: Mapping[str, Any]) -> tuple[str, str]:
    """A hit's title and what is shown of its text: of a tool its full name and its description."""
    metadata = hit["metadata"]
    if metadata["type"] == "Tool":
        return metadata["tool"], hit["text"]
    title, passage = metadata["title"], metadata["passage"]
    return title or "", "" if passage is None else _without_title(passage["text"], title)


def _without_title(text: str, title: object) -> str:
    """Leave out a heading that only says the title again."""
    first, _, rest = text.partition("\n")
    return rest if rest.strip() and first.lstrip("# ").strip() == title else text


def snippet(text: str, most: int = SNIPPET) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip(" …") + "…"


def certificate_says(certificate: Mapping[str, Any]) -> str:
    """Say in a sentence what a search proved."""
    noun = next((noun for noun in ("notes", "collections", "passages") if noun in certificate), "notes")
    matched, returned, searched = certificate["matched"], certificate["returned"], certificate.get(noun)
    if not searched:
        return f"no {noun} to search: none is kept, or none satisfies the condition"
    if certificate["threshold"] is None:
        wanted = "with a word of the query"
    else:
        wanted = f"at or above {certificate['threshold']:.2f}"
        wanted += " or with a word of the query" if "words" in certificate else ""
    if matched is None:
        says = f"{returned:,} {noun} {wanted}, found by the index; `certify` would prove that they are the best"
    elif certificate["exhaustive"]:
        says = f"all {matched:,} of {searched:,} {noun} {wanted}"
        if not matched:
            says = f"none of {searched:,} {noun} is {wanted}"
    else:
        says = f"{returned:,} of {matched:,} {noun} {wanted}, {searched:,} searched"
    if certificate.get("max_below") is not None:
        says += f"; the next best has {certificate['max_below']:.3f}"
    if certificate.get("unembedded"):
        says += f"; {certificate['unembedded']:,} not embedded yet, so not searched"
    return says


def finding_says(extra: Mapping[str, Any]) -> str | None:
    """Say what a search for tools has to say besides its hits: that none fits, or that a leg is down."""
    guess = extra.get("guess")
    nearest = f"; the nearest is {guess['tool']} ({guess['score']:.3f})" if guess else ""
    says = [f"no tool fits{nearest}"] if extra.get("no_match") else []
    says += [extra["degraded"]] if "degraded" in extra else []
    return "; ".join(says) or None


def content_text(content: Any) -> str:
    """Return content for reading: text as it is, other JSON indented."""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=2)


def is_hit(content: Any) -> bool:
    """Whether content is that of a search result."""
    return isinstance(content, dict) and set(content) == {"text", "format", "metadata", "char_count"}


def items_table(contents: Sequence[Any]) -> Table:
    """Return the items of a Collection as a table: objects with their keys as columns, other items as lines."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1), show_header=True, header_style="dim")
    table.add_column("#", justify="right")
    keys = _columns(contents)
    for key in keys or ["content"]:
        table.add_column(key)
    for rank, content in enumerate(contents, start=1):
        cells = [_cell(content.get(key)) for key in keys] if keys else [_cell(content)]
        table.add_row(str(rank), *(Text(cell) for cell in cells))
    return table


def _columns(contents: Sequence[Any]) -> list[str]:
    if not all(isinstance(content, dict) for content in contents):
        return []
    keys = list(dict.fromkeys(key for content in contents for key in content))
    return keys if len(keys) <= 6 else []


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return snippet(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
