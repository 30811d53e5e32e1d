"""The fast way of reading front matter reads what the YAML parser reads, or leaves it to it."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infospace.core.errors import Invalid
from infospace.files.front_matter import read_simple, read_yaml

PIECES = st.sampled_from(
    [
        *(
            "a",
            "b1",
            "true",
            "null",
            "no",
            "~",
            "1",
            "-2",
            "3.5",
            "1e3",
            "0x1F",
            "2024-05-01",
            "10:30",
            "é",
            "_",
            "x-y",
        ),
        *(
            ": ",
            ":",
            ", ",
            ",",
            " ",
            "  ",
            "- ",
            "-",
            "[",
            "]",
            "{",
            "}",
            "#",
            " #",
            '"',
            "'",
            "\\",
            "\t",
            "\n",
            "\n\n",
        ),
        *(
            "&x",
            "*x",
            "!t",
            "|",
            ">",
            "%",
            "@",
            "`",
            "?",
            "? ",
            "---",
            "...",
            "key: ",
            "tags:\n",
            "  - ",
            "\nk: ",
            ".inf",
        ),
        *(
            "http://a.b/c?d=e",
            "(x)",
            "“q”",
            "+",
            "=",
            "$",
            "~",
            "<<: ",
            "0o7",
            "1_000",
            "\x85",
            "\u2028",
            "\xa0",
            "\ufeff",
        ),
    ]
)
LINES = st.lists(PIECES, max_size=12).map("".join)
BLOCKS = st.lists(
    st.builds("{}: {}".format, st.sampled_from(["a", "b", "c", "null", "a b", "1"]), LINES), max_size=4
).map(lambda lines: "\n".join(lines) + "\n")


@settings(max_examples=1500, deadline=None)
@given(st.one_of(LINES, BLOCKS))
@example("a: [b, c]\n")
@example("a:\n- b\n- c\nd:\n  - e\n")
@example("a:\n  - b\n - c\n")
@example("a: b\n- c\n")
@example("a: x,y\nb: [x,y]\n")
@example('a: "b: #c"\n')
def test_what_is_read_fast_is_what_yaml_says(block: str) -> None:
    """Whatever stands there: the same value, or no answer; never one where YAML has an error."""
    fast = read_simple(block)
    if fast is None:
        return
    slow = read_yaml(block)
    assert repr(fast) == repr(slow)


@pytest.mark.parametrize(
    "block",
    [
        "title: A walk\ntags: [outside, river]\nminutes: 40\n",
        "date: 2024-05-01\nstatus: in progress\ntags:\n  - a\n  - b c\n",
        'url: https://example.org/a/b\nquoted: "a: b"\nempty:\nlist: []\n',
        "author: O'Neill, Ann (ed.)\nrating: -1.5\ndone: true\n",
    ],
)
def test_what_people_write_is_read_fast(block: str) -> None:
    """The usual front matters do not need the parser."""
    assert read_simple(block) == read_yaml(block)


@pytest.mark.parametrize(
    "block", ["a: b: c\n", "a: [b\n", 'a: "b\n', "a: 1\na: 2\n", "a: .inf\n", "- a\n", "a: @b\n", "a:\n  - b\n - c\n"]
)
def test_what_is_wrong_is_left_to_the_parser(block: str) -> None:
    """Its sentence names the line."""
    assert read_simple(block) is None
    with pytest.raises(Invalid, match="the front matter cannot be read at line"):
        read_yaml(block)


@pytest.mark.parametrize(
    ("block", "message", "hint"),
    [
        ("a: 1\na: 2\n", "3: the key 'a' stands there a second time", "each key once"),
        ("a: 1\n---\nb: 2\n", "3: a second document begins", "one is read"),
        ("- a\n", '2: ["a"] stands alone', "each line is `key: value`"),
        ("a: *x\n", "2: the alias *x has no anchor before it", "write the value out"),
        ("a: b\n1: x\n", "3: the key 1 is not a text", "put it in quotes"),
        ("a: !t x\n", "2: the tag '!t' has no meaning here", "leave it out"),
        ('a: "\\ud800"\n', "2: an escape is half of a character", "write the character"),
        ("a: .inf\n", "2: .inf has no JSON form", "use null, or put it in quotes"),
        ("a: 1e999\n", "2: 1e999 is too large for a number", "put it in quotes"),
        ("a: b\n%YAML 1.2\n---\n", "3: a directive begins", "put it in quotes"),
        ("a: [b\n", "3: ", "YAML: indent with spaces, quote a text with a colon"),
    ],
)
def test_what_yaml_allows_and_a_note_does_not_is_one_sentence(block: str, message: str, hint: str) -> None:
    with pytest.raises(Invalid) as refusal:
        read_yaml(block)
    assert refusal.value.message.startswith(f"the front matter cannot be read at line {message}")
    assert refusal.value.hint == hint


def test_a_tag_says_what_a_value_is() -> None:
    block = "a: !!bool true\nb: !!int 3\nc: !!float 1.5\nd: !!null ~\ne: !!str 3\nf: ! 3\ng: !!timestamp 2026-01-02\n"
    told = {"a": True, "b": 3, "c": 1.5, "d": None, "e": "3", "f": "3", "g": "2026-01-02"}
    assert read_simple(block) is None
    assert read_yaml(block) == told
