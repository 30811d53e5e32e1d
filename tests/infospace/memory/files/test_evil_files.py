"""Files that were made to take long: what is read of them takes time in line with their size."""

from __future__ import annotations

import time

import pytest

from infospace.core.errors import Invalid
from infospace.data.markdown.body import read_body
from infospace.files.formats import csv as tables
from infospace.files.formats import html as hypertext
from infospace.files.formats import markdown_file as marked
from infospace.files.markdown import parse

SECONDS = 30
"""Processor time for one file. Where the time grew with the square of the size, each of these took minutes."""


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p " + " ".join(f'a{n}="> x"' for n in range(200_000)) + ">hi</p><p>there", "hi\n\nthere"),
        ("<ul><li>" * 50_000 + "deep", "deep"),
        ("<div>" * 100_000 + "deep" + "</div>" * 100_000 + "<p>after", "deep\n\nafter"),
        ("".join(f"<font color={n}><p>" for n in range(20_000)) + "deep", "deep"),
    ],
    ids=["attributes", "lists", "nesting", "formatting"],
)
def test_html_of_too_much_of_anything_is_read(page: str, text: str) -> None:
    """The text comes through."""
    began = time.process_time()
    content = hypertext.read(page.encode(), "page.html").content
    assert time.process_time() - began < SECONDS
    assert isinstance(content, str)
    assert content.lstrip(" -") == text


def test_what_html_leaves_out_is_what_is_too_much() -> None:
    """A tag keeps a thousand attributes, and what comes after as many closed elements stands where it stood."""
    many = " ".join(f"a{n}" for n in range(999))
    assert hypertext.read(f"<p {many} hidden>secret</p>seen".encode(), "x").content == "seen"
    assert hypertext.read(f"<p {many} b hidden>shown</p>seen".encode(), "x").content == "shown\n\nseen"
    page = "<div><b>x</b></div>" * 2_000 + "<ul><li>a<ul><li>b</ul></ul>"
    content = hypertext.read(page.encode(), "x").content
    assert str(content).endswith("x\n\n- a\n  - b")
    nested = "<div>" * 600 + "x" + "</div>" * 600 + "<ul><li>a<li>b</ul>"
    assert hypertext.read(nested.encode(), "x").content == "x\n\n- a\n- b"
    unclosed = "<p>x" * 3_000 + "<div>a</div><div>b</div>"
    assert str(hypertext.read(unclosed.encode(), "x").content).endswith("x\n\na\n\nb")


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[a]]" * 50_000, 50_000),
        ("[[a]]\n" * 50_000, 50_000),
        ("[a](b.md) " * 50_000, 50_000),
        ("- " * 50_000 + "[[a]]", 0),
        ("[[a]] [k:: v]\n" * 20_000, 20_000),
        ("[[a]] (k:: v)\n" * 20_000, 20_000),
        ("[[a]]\nk:: v\n" * 20_000, 20_000),
    ],
    ids=["wiki", "lines", "links", "lists", "fields", "fields in parentheses", "fields of lines"],
)
def test_markdown_of_many_links_is_read(text: str, links: int) -> None:
    """Each link has its own place."""
    began = time.process_time()
    found = parse(text).links
    assert time.process_time() - began < SECONDS
    assert len({link.start for link in found}) == len(found)
    assert len(found) == links
    assert all(text.startswith(("[[a]]", "[a](b.md)"), link.start) for link in found)


def test_a_task_of_many_dates_is_read() -> None:
    """They are taken out of its text at once."""
    began = time.process_time()
    (task,) = read_body("- [ ] pay " + "📅 2024-01-01 " * 100_000 + "now").items
    assert time.process_time() - began < SECONDS
    assert (task.text, task.due) == ("pay now", "2024-01-01")


def test_a_table_of_many_columns_is_read() -> None:
    """The names are compared at once."""
    header = ",".join(f"c{n}" for n in range(50_000))
    began = time.process_time()
    (row,) = tables.rows(f"{header}\n1,2\n".encode(), "t.csv")
    assert time.process_time() - began < SECONDS
    assert row.load() == {"c0": "1", "c1": "2"}
    with pytest.raises(Invalid, match="two columns of"):
        tables.rows(f"{header},c7\n".encode(), "t.csv")


@pytest.mark.parametrize("block", ["a: " + "[" * 50_000, "a: " + "{b: " * 50_000, "a:\n  " + "- " * 50_000])
def test_front_matter_that_nests_too_deep_is_given_up_soon(block: str) -> None:
    """Before all of it was read."""
    began = time.process_time()
    document = f"---\n{block}\n---\ntext"
    read = marked.read(document.encode(), "a.md")
    assert (read.content, "nested too deep" in read.warning) == (document, True)
    assert time.process_time() - began < SECONDS
