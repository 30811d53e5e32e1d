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
