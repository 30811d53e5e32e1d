"""What a file of each format holds for its Note."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from infospace import Space

sys.path.insert(0, str(Path(__file__).parents[1]))

from imported import add, contents, counts, notes, write


def test_each_format_gives_what_it_holds(space: Space, tmp_path: Path) -> None:
    """Types are kept where the format has them; a row is a Note of its own."""
    write(
        tmp_path / "in",
        **{
            "a.md": "---\ntitle: T\nn: 1\n---\n# H\n\n#tag text\r\n",
            "b.txt": "plain #no\r\ntext",
            "c.json": '{"x": [1, 2.5, null, true]}',
            "d.jsonl": '{"a": 1}\n\n"text"\n3\n',
            "e.csv": 'name,n\nAnn,1\n"B, C","2\n3"\n',
            "f.html": "<title>Page</title><h1>One</h1><p>Some <b>bold</b>\n text</p><script>no()</script>",
            "empty.md": "",
        },
    )
    assert counts(add(space, tmp_path / "in")) == {"added": 10}
    assert contents(space) == {
        "a.md": "# H\n\n#tag text\n",
        "b.txt": "plain #no\ntext",
        "c.json": {"x": [1, 2.5, None, True]},
        "d.jsonl#1": {"a": 1},
        "d.jsonl#3": "text",
        "d.jsonl#4": 3,
        "e.csv#1": {"name": "Ann", "n": "1"},
        "e.csv#2": {"name": "B, C", "n": "2\n3"},
        "f.html": "# One\n\nSome bold text",
        "empty.md": "",
    }
    known = notes(space)
    assert known["a.md"].metadata == {"title": "T", "n": 1, "tags": ["tag"]}
    assert known["f.html"].metadata == {"title": "Page"}
    assert all(note.kept and note.created_by.by == "add" for note in known.values())


def test_the_metadata_of_json_lies_beside_it(space: Space, tmp_path: Path) -> None:
    """It is no Note of its own, and a change of it is a change."""
    folder = write(tmp_path / "in", **{"a.json": "[1]", "a.metadata.json": '{"k": 1}', "b.metadata.json": "{}"})
    assert counts(add(space, folder)) == {"added": 2}
    assert notes(space)["a.json"].metadata == {"k": 1}
    write(folder, **{"a.metadata.json": '{"k": 2}'})
    assert counts(add(space, folder)) == {"changed": 1, "unchanged": 1}
    assert notes(space)["a.json"].metadata == {"k": 2}


def test_json_has_no_metadata_where_the_name_of_that_would_be_too_long(space: Space, tmp_path: Path) -> None:
    """It is added with the rest of its folder."""
    name = "x" * 245 + ".json"
    folder = write(tmp_path / "in", **{name: "[1]", "y.json": "[2]", "y.metadata.json": '{"k": 1}'})
    assert counts(add(space, folder)) == {"added": 2}
    assert {path: dict(note.metadata) for path, note in notes(space).items()} == {name: {}, "y.json": {"k": 1}}


def test_a_pdf_gives_its_text_and_pages(space: Space, tmp_path: Path) -> None:
    """Where the extra is there; a document without text says so."""
    pypdf = pytest.importorskip("pypdf")
    from pypdf.generic import DictionaryObject, NameObject, StreamObject

    writer = pypdf.PdfWriter()
    font = DictionaryObject(
        {
            NameObject(f"/{key}"): NameObject(f"/{value}")
            for key, value in {"Type": "Font", "Subtype": "Type1", "BaseFont": "Helvetica"}.items()
        }
    )
    for sentence in (b"A heron at the river", b"and a duck"):
        page = writer.add_blank_page(200, 200)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): writer._add_object(font)})}
        )
        stream = StreamObject()
        stream.set_data(b"BT /F1 12 Tf 20 100 Td (%s) Tj ET" % sentence)
        page[NameObject("/Contents")] = writer._add_object(stream)
    writer.add_metadata({"/Title": "Birds"})
    (tmp_path / "in").mkdir()
    writer.write(tmp_path / "in" / "a.pdf")
    blank = pypdf.PdfWriter()
    blank.add_blank_page(10, 10)
    blank.write(tmp_path / "in" / "blank.pdf")
    summary = add(space, tmp_path / "in")
    note = notes(space)["a.pdf"]
    assert (note.content, note.metadata) == ("A heron at the river\n\nand a duck", {"title": "Birds", "pages": 2})
    assert summary.failed[0]["reason"].endswith("holds no text (pages that were scanned must be recognised first)")


def test_a_pdf_without_the_extra_says_how_to_install_it(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of the folder is imported."""
    import sys

    monkeypatch.setitem(sys.modules, "pypdf", None)
    folder = write(tmp_path / "in", **{"a.pdf": b"%PDF-", "b.md": "b"})
    summary = add(space, folder)
    assert counts(summary) == {"added": 1}
    assert "pip install 'infospace[pdf]'" in summary.failed[0]["reason"]


def test_html_keeps_headings_lists_tables_and_relative_links(space: Space, tmp_path: Path) -> None:
    """And nothing that is not to be read."""
    page = """<html><head><title> A
    page </title><style>p {}</style></head><body><h2>Birds <em>here</em></h2><ul><li>heron<li>duck
    <ol><li>male</ol></ul><table><tr><th>a<th>b<tr><td>1<td>2</table><pre>x  y
 z</pre><p>See <a href="b%20c.html#x">this</a> and <a href="https://a.b">that</a>.<br>Next &amp; last
    <p hidden>secret</body></html>"""
    write(tmp_path / "in", **{"a.html": page})
    add(space, tmp_path / "in")
    note = notes(space)["a.html"]
    assert note.metadata == {"title": "A page"}
    assert note.content == (
        "## Birds here\n\n- heron\n- duck\n  1. male\n\na | b\n1 | 2\n\n```\nx  y\n z\n```\n\n"
        "See [this](<b c.html>) and that.\nNext & last"
    )
    with space.store.reading() as snapshot:
        assert [link.target for link in snapshot.links(note.id)[note.id]] == ["b c.html"]


@pytest.mark.parametrize("first", ["ul", "ol"])
def test_a_list_ends_with_its_tag(space: Space, tmp_path: Path, first: str) -> None:
    """What stands in a list after it is no deeper, and counts from one again."""
    page = f"<{first}><li>a<ol><li>b<li>c</ol><li>d</{first}><p>e<ol><li>f</ol><ul><li>g</ul>"
    write(tmp_path / "in", **{"a.html": page})
    add(space, tmp_path / "in")
    signs = ("-", "-") if first == "ul" else ("1.", "2.")
    assert notes(space)["a.html"].content == f"{signs[0]} a\n  1. b\n  2. c\n{signs[1]} d\n\ne\n\n1. f\n- g"


def test_deep_html_is_read(space: Space, tmp_path: Path) -> None:
    """Nesting is no limit."""
    write(tmp_path / "in", **{"a.html": "<div>" * 5_000 + "deep" + "</div>" * 5_000})
    add(space, tmp_path / "in")
    assert notes(space)["a.html"].content == "deep"


def test_html_in_the_encoding_that_it_names(space: Space, tmp_path: Path) -> None:
    """As old pages have it."""
    write(tmp_path / "in", **{"a.html": '<meta charset="iso-8859-1"><p>Caf\xe9'.encode("latin-1")})
    add(space, tmp_path / "in")
    assert notes(space)["a.html"].content == "Café"
