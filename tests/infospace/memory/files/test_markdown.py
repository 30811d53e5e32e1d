"""A Markdown file becomes text, metadata, tags and links, and can be written again from them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.files.front_matter import MAX_FRONT_MATTER
from infospace.files.markdown import parse, to_markdown

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=10,
)
METADATA = st.dictionaries(TEXTS | st.sampled_from(["title", "tags", "null", "no", "1"]), VALUES)
PIECES = st.sampled_from(
    [
        *("# ", "## ", "\n", "\n\n", "---\n", "...\n", "- ", "> ", "    ", "```\n", "`", "*", "\\", "\t"),
        *("#tag", "#a/b", "[[", "]]", "|", "[x](a.md)", "[y]", "(b.md)", "[y]: c.md\n", "<b>", "a: 1\n"),
        *("Title", "===\n", "tags: x, y\n", "title: T\n", " ", "é", "\r\n", "\ufeff", "\x00", "https://h/#f"),
    ]
)
DOCUMENTS = st.lists(PIECES, max_size=25).map("".join)


def unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def front(block: str) -> dict[str, JSON]:
    return parse(f"---\n{block}\n---\n\nbody\n").metadata


def refusal(block: str) -> Invalid:
    with pytest.raises(Invalid) as caught:
        front(block)
    return caught.value


@given(DOCUMENTS)
def test_what_was_parsed_is_written_and_parsed_the_same(document: str) -> None:
    """Export and import change nothing, whatever file the note came from."""
    try:
        parsed = parse(document)
    except Invalid:
        return
    assert parse(to_markdown(parsed.text, parsed.metadata)) == parsed


@given(DOCUMENTS)
def test_every_link_begins_at_its_bracket(document: str) -> None:
    """The offset of a link is that of its opening bracket in the text, however it is nested in blocks."""
    parsed = parse("\n" + document)
    assert [parsed.text[link.start] for link in parsed.links] == ["["] * len(parsed.links)
    assert all(parsed.text[link.start + 1] == "[" for link in parsed.links if link.wiki)


@given(DOCUMENTS)
def test_a_file_without_front_matter_is_written_as_it_was(document: str) -> None:
    """A title or tag that the text says itself is not written into a file that did not have it."""
    parsed = parse("\n" + document)
    assert to_markdown(parsed.text, parsed.metadata) == "\n" + unix(document)


@given(TEXTS | DOCUMENTS, METADATA)
@example("", {"k" * 2000: {"n" * 2000: ["v" * 2000]}, "\x85\u2028\x7f\ufeff": "\x00"})
@example("---\na: 1\n---\n", {})
@example("\ufefftext", {})
def test_any_text_and_metadata_are_read_back(text: str, metadata: dict[str, JSON]) -> None:
    """Text and metadata survive; only title and tags are completed from the text, tags tidied."""
    parsed = parse(to_markdown(text, metadata))
    assert parsed.text == unix(text)
    said = parse("\n" + text).metadata
    if metadata.get("title") is None and "title" in said:
        metadata = {**metadata, "title": said["title"]}
    if parsed.tags:
        metadata = {**metadata, "tags": parsed.metadata["tags"]}
    assert same(parsed.metadata, metadata)


def test_the_order_of_metadata_is_kept() -> None:
    """Front matter is read and written in the order in which it stands."""
    metadata: dict[str, JSON] = {"z": 1, "a": {"y": 2, "b": 3}, "m": [1]}
    assert list(parse(to_markdown("x", metadata)).metadata.items()) == list(metadata.items())


def test_front_matter_is_written_plainly_where_it_can_be() -> None:
    """What people edit looks as people write it, and means the same to older YAML readers."""
    metadata: dict[str, JSON] = {"title": "Über Äpfel", "date": "2024-05-01", "ok": "no", "n": ["a", 1.5, None]}
    assert to_markdown("Text\n", metadata) == (
        '---\ntitle: Über Äpfel\ndate: 2024-05-01\nok: "no"\nn: [a, 1.5, null]\n---\n\nText\n'
    )


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("a: no\nb: Yes\nc: on", {"a": "no", "b": "Yes", "c": "on"}),
        ("a: true\nb: FALSE\nc: ~\nd:\ne: Null", {"a": True, "b": False, "c": None, "d": None, "e": None}),
        ("a: 2024-05-01\nb: 2024-05-01T10:00:00Z", {"a": "2024-05-01", "b": "2024-05-01T10:00:00Z"}),
        ("a: 12:30:00\nb: 0o17\nc: 0x1F\nd: +3", {"a": "12:30:00", "b": 15, "c": 31, "d": 3}),
        ("a: 1.5e3\nb: .5\nc: 1_000\nd: '1'", {"a": 1500.0, "b": 0.5, "c": "1_000", "d": "1"}),
        ("a: !!str 1\nb: ! 2\nc: !!int 3", {"a": "1", "b": "2", "c": 3}),
        ("a: &x [1, {b: c}]\nd: *x", {"a": [1, {"b": "c"}], "d": [1, {"b": "c"}]}),
        ("a: |\n  one\n  two\nb: >-\n  one\n  two", {"a": "one\ntwo\n", "b": "one two"}),
        ('a: "\\ud83d\\ude00"', {"a": "😀"}),
        ("{a: 1, b: [2]}", {"a": 1, "b": [2]}),
        ("# only a comment", {}),
        ("", {}),
    ],
)
def test_front_matter_means_what_yaml_1_2_says(block: str, expected: dict[str, JSON]) -> None:
    """Only the core schema's words are not text, so dates and `no` stay as written."""
    assert same(front(block), expected)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("a: 1\nb: [1", "line 4: expected ',' or ']'"),
        ("a: b: c", "line 2: mapping values are not allowed here"),
        ("a:\n\t- b: 1", "line 3: found character '\\t'"),
        ("a: 1\nb: 2\na: 3", "line 4: the key 'a' stands there a second time"),
        ("a: 1\nb: {c: 1, c: 2}", "line 3: the key 'c' stands there a second time"),
        ("a: x\n2024: y", "line 3: the key 2024 is not a text"),
        ("null: y", "line 2: the key null is not a text"),
        ("? [a]\n: b", 'line 2: the key ["a"] is not a text'),
        ("a: 1\nb: .nan", "line 3: .nan has no JSON form"),
        ("a: -.inf", "line 2: -.inf has no JSON form"),
        ("a: 1e999", "line 2: 1e999 is too large"),
        ("a: " + "9" * 5000, "line 2: a number has 5,000 digits"),
        ("a: 1\nb: *x", "line 3: the alias *x has no anchor before it"),
        ("a: &x [*x]", "line 2: the alias *x has no anchor before it"),
        ("a: !!binary aGk=", "line 2: the tag"),
        ("a: !me 1", "line 2: the tag '!me' has no meaning here (leave it out)"),
        ('a: 1\nb: "\\ud800"', "line 3: an escape is half of a character"),
        ('a: "\\U7FFFFFFF"', "an escape that is not a character"),
        ("a: 1\nb: \x01", "line 3: the character '\\x01' is not allowed"),
        ("a: " + "[" * 50_000, "line 2: it is nested too deep"),
        ("a: 1\n%YAML 1.1", "line 3: a directive begins"),
        ("a: 1\n--- b", "line 3: a second document begins"),
        ("- a: b", 'line 2: [{"a": "b"}] stands alone'),
    ],
)
def test_bad_front_matter_is_refused_by_the_line_of_the_file(block: str, message: str) -> None:
    """One sentence names the line, counted in the file as an editor counts it."""
    assert message in str(refusal(block))


def test_aliases_that_multiply_are_refused_before_they_are_made() -> None:
    """Few lines that stand for a billion values cost neither time nor memory."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert "stand for more than 10,000 values" in refusal("\n".join(lines)).message


def test_too_long_front_matter_is_refused_by_its_size() -> None:
    """The slow reading of YAML has an upper bound."""
    assert "characters long" in refusal("a: " + "x" * MAX_FRONT_MATTER).message


@pytest.mark.parametrize(
    ("document", "text", "metadata"),
    [
        ("---\na: 1\n---\ntext\n", "text\n", {"a": 1}),
        ("---\na: 1\n---\n\n\ntext", "\ntext", {"a": 1}),
        ("\ufeff---\r\na: 1\r\n...\r\ntext\r\n", "text\n", {"a": 1}),
        ("---  \na: 1\n---", "", {"a": 1}),
        ("---\n---\ntext", "text", {}),
        ("---\nNo end", "---\nNo end", {}),
        ("---\nA paragraph\n---\nbetween rules", "---\nA paragraph\n---\nbetween rules", {}),
        ("---\n# Note: one\nprose\n---\n", "---\n# Note: one\nprose\n---\n", {"title": "Note: one"}),
        ("\n---\na: 1\n---\n", "\n---\na: 1\n---\n", {}),
        ("----\na: 1\n---\n", "----\na: 1\n---\n", {}),
        ("", "", {}),
    ],
)
def test_the_body_begins_after_the_front_matter(document: str, text: str, metadata: dict[str, JSON]) -> None:
    """Front matter stands at the very top and is a mapping; anything else is text, kept as written."""
    parsed = parse(document)
    assert parsed.text == text
    assert parsed.metadata == metadata


@pytest.mark.parametrize(
    ("document", "title"),
    [
        ("---\ntitle: Mine\n---\n# Other\n", "Mine"),
        ("---\ntitle:\n---\n# Other\n", "Other"),
        ("```\n# not this\n```\n## nor this\n# *This* `one` [here](a.md)\n# not that", "This one here"),
        ("Set\nexext\n=====\n", "Set exext"),
        ("#\n# Second", "Second"),
        ("# About [[Apples|fruit]]", "About fruit"),
        ("#no-heading", None),
        ("plain", None),
    ],
)
def test_the_title_is_the_front_matters_or_the_first_heading(document: str, title: str | None) -> None:
    """A heading of level 1 gives its plain text; a comment in code is none."""
    assert parse(document).metadata.get("title") == title


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("#one two #three/four, (#five) **#six**\n#seven", ["one", "three/four", "five", "six", "seven"]),
        ("#a #b #a", ["a", "b"]),
        ("#123 #1-2 #- #/ # C# a#b C#m", []),
        ("#v2 #été #_x", ["v2", "été", "_x"]),
        ("#end- #end/ #end.", ["end"]),
        ("`#code` ``#a `#b``\n\n    #indented\n\n```\n#fenced\n```\n~~~\n#fenced", []),
        ("# Heading #no\n\nSetext #no\n---\n\n#yes", ["yes"]),
        ("[#in](a.md) [x](a.md#frag) [[#in]] [[a#b]] <https://a.b/#c> https://a.b/#c https://a.b/#/c", []),
        ("[a](b)#after [[a]]#after `c`#after \\#escaped &#35;entity ![#alt](i.png)#after \\*#after &amp;#after", []),
        ("<div>\n#html\n</div>\n\n<!-- #comment -->", []),
        ("- item #list\n  > quote #quoted", ["list", "quoted"]),
        ("| a | #cell |\n|---|---|\n", ["cell"]),
    ],
)
def test_tags_are_words_after_a_hash_in_plain_text(body: str, tags: list[str]) -> None:
    """Code, headings, links, addresses, raw HTML and numbers hold no tags."""
    assert parse(body).tags == tuple(tags)
    assert parse(body).metadata.get("tags", []) == tags


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("[a, b]", ["a", "b", "c"]),
        ("a, two words , a,", ["a", "two words", "c"]),
        ("'#b, #c'", ["b", "c"]),
        ("\n- c\n- 2024\n- true", ["c", "2024", "true"]),
        ("", ["c"]),
    ],
)
def test_tags_of_the_front_matter_come_first(written: str, tags: list[str]) -> None:
    """A list or a comma-separated text, without hashes, each once, then those of the body."""
    assert parse(f"---\ntags: {written}\n---\n#c").metadata["tags"] == tags


def test_tags_that_the_text_says_in_another_order_are_written() -> None:
    """The order of tags in metadata survives, even where the body has them the other way round."""
    written = to_markdown("#b #a\n", {"tags": ["a", "c", "b"]})
    assert parse(written).tags == ("a", "c", "b")
    assert to_markdown("#b #a\n", {"tags": ["c", "b", "a"]}) == "---\ntags: [c]\n---\n\n#b #a\n"


def test_tags_of_another_shape_are_left_alone() -> None:
    """Metadata called `tags` that is no list of words stays as it is; the body's tags are still told."""
    parsed = parse("---\ntags: {a: 1}\n---\n#c")
    assert parsed.metadata == {"tags": {"a": 1}}
    assert parsed.tags == ("c",)


@pytest.mark.parametrize(
    ("body", "target", "text", "wiki"),
    [
        ("see [[Apple Pie]]!", "Apple Pie", "Apple Pie", True),
        ("see [[Apple Pie|pie]]", "Apple Pie", "pie", True),
        ("see [[Apple Pie#Dough]]", "Apple Pie", "Apple Pie#Dough", True),
        ("see [[ Apple Pie # Dough | the dough ]]", "Apple Pie", "the dough", True),
        ("![[Embedded]]", "Embedded", "Embedded", True),
        ("| [[Table\\|cell]] |", "Table", "cell", True),
        ("> - **[[Deep]]**", "Deep", "Deep", True),
        ("# [[In a heading]] #", "In a heading", "In a heading", True),
        ("> one\n> two [x](a.md)", "a.md", "x", False),
        ("\t- tab\n\n1. [x](a.md)", "a.md", "x", False),
        ("a  \n  [x *y* `z`](../b%20c/d.md#e 'title')", "../b c/d.md", "x y z", False),
        ("[x](<with space.md>)", "with space.md", "x", False),
        ("[x][ref] and\n\n[ref]: ./a.md\n", "./a.md", "x", False),
        ("[100%](100%.md)", "100%.md", "100%", False),
    ],
)
def test_links_have_a_target_a_text_and_a_place(body: str, target: str, text: str, wiki: bool) -> None:
    """Names between double brackets and relative paths, decoded and without their heading."""
    (link,) = parse(body).links
    assert (link.target, link.text, link.wiki) == (target, text, wiki)
    assert link.start == body.index("[")


@pytest.mark.parametrize(
    "body",
    [
        "`[[code]]` `[x](a.md)`",
        "    [[indented]]\n",
        "```\n[[fenced]] [x](a.md)\n```",
        "\\[[escaped]] [[]] [[#own heading]] [own](#heading)",
        "[x](https://a.b/c.md) [x](mailto:a@b.c) [x](/absolute.md) [x](//host/a.md) <https://a.b>",
        "![image](picture.png)",
        "<div>\n[[html]]\n</div>",
        "[no](a b.md) [nothing][nowhere] [x]",
    ],
)
def test_what_leads_to_no_local_note_is_no_link(body: str) -> None:
    """Code, addresses, the note's own headings and pictures are left out."""
    assert parse(body).links == ()


def test_links_come_in_the_order_of_the_text() -> None:
    """Several links of one line and of several blocks keep their order and places."""
    body = "[a](1.md) [[2]] [b](3.md)\n\n- [[4]]\n- [[2]]\n"
    assert [link.target for link in parse(body).links] == ["1.md", "2", "3.md", "4", "2"]
    starts = [link.start for link in parse(body).links]
    assert starts == sorted(set(starts))


def test_a_link_says_what_stands_between_its_brackets() -> None:
    """Nothing, where nothing does, whatever follows it."""
    found = parse("[](a.md) and [b *c*](b.md)[d](c.md) [[e|f]]").links
    assert [(link.target, link.text, link.wiki) for link in found] == [
        ("a.md", "", False),
        ("b.md", "b c", False),
        ("c.md", "d", False),
        ("e", "f", True),
    ]
