"""The same made notes as files of every format that is imported."""

from __future__ import annotations

import csv
import html
import json
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
from embedding import WORDS

NOTE_WORDS = 120
"""About 700 characters, 130 tokens."""


def made_notes(count: int, seed: int = 11) -> list[tuple[str, str]]:
    """Return titles and texts."""
    chance = np.random.default_rng(seed)
    words = WORDS.split()
    return [(f"Note {number}", " ".join(chance.choice(words, size=NOTE_WORDS))) for number in range(count)]


def _each(ending: str, whole: Callable[[str, str], bytes]) -> Callable[[Path, list[tuple[str, str]]], None]:
    def write(folder: Path, notes: list[tuple[str, str]]) -> None:
        for number, (title, text) in enumerate(notes):
            (folder / f"{number}.{ending}").write_bytes(whole(title, text))

    return write


def _markdown(title: str, text: str) -> bytes:
    return f"---\ntitle: {title}\nyear: 2026\ntags: [made, note]\n---\n# {title}\n\n{text}\n".encode()


def _json(title: str, text: str) -> bytes:
    return json.dumps({"title": title, "year": 2026, "text": text}).encode()


def _html(title: str, text: str) -> bytes:
    name, body = html.escape(title), html.escape(text)
    return f"<!doctype html><title>{name}</title><nav>Home</nav><h1>{name}</h1><p>{body}</p>".encode()


def _pdf(title: str, text: str) -> bytes:
    """A PDF of one page (ISO 32000-1, 7.5): header, objects, cross-reference table, trailer."""
    said = " ".join(f"({line}) Tj T*" for line in [title, *textwrap.wrap(text, 90)])
    stream = f"BT /F 10 Tf 50 780 Td 12 TL {said} ET"
    page = "/Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< {page} >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    whole, places = "%PDF-1.4\n", []
    for number, one in enumerate(objects, start=1):
        places.append(f"{len(whole):010} 00000 n \n")
        whole += f"{number} 0 obj\n{one}\nendobj\n"
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{''.join(places)}"
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(whole)}\n%%EOF\n"
    return (whole + table + trailer).encode()


def _json_lines(folder: Path, notes: list[tuple[str, str]]) -> None:
    (folder / "notes.jsonl").write_bytes(b"".join(_json(*note) + b"\n" for note in notes))


def _csv(folder: Path, notes: list[tuple[str, str]]) -> None:
    with (folder / "notes.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["title", "year", "text"])
        rows.writerows((title, 2026, text) for title, text in notes)


FORMATS: dict[str, Callable[[Path, list[tuple[str, str]]], None]] = {
    "Markdown": _each("md", _markdown),
    "text": _each("txt", lambda title, text: f"{title}\n\n{text}\n".encode()),
    "JSON": _each("json", _json),
    "JSON Lines": _json_lines,
    "CSV": _csv,
    "HTML": _each("html", _html),
    "PDF": _each("pdf", _pdf),
}
"""What writes notes into an empty folder, by format."""
