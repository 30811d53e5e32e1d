"""Documents that people and models hand over are read strictly, and refused with their place."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.core.errors import Invalid, InvalidJSON
from infospace.core.json_types import JSON
from infospace.data.json_text import compact_writer, dump, read_json, read_json_lines, same

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


def refusal(data: str | bytes) -> InvalidJSON:
    with pytest.raises(InvalidJSON) as caught:
        read_json(data)
    return caught.value


@given(VALUES)
def test_what_is_dumped_is_read_back_the_same(value: JSON) -> None:
    """Writing and reading lose nothing, not even the type of a number or the order of keys."""
    back = read_json(dump(value))
    assert json.dumps(back) == json.dumps(value)
    assert read_json(dump(value).encode()) == back


@given(VALUES)
def test_indented_and_escaped_forms_read_as_the_plain_one(value: JSON) -> None:
    """Spaces, escapes, a byte order mark and a code fence change nothing."""
    pretty = json.dumps(value, indent=2)
    assert same(read_json(pretty), value)
    assert same(read_json("\ufeff" + pretty), value)
    assert same(read_json(f"```json\n{pretty}\n```\n"), value)


@given(st.dictionaries(TEXTS, VALUES, min_size=1) | st.lists(VALUES, min_size=1), st.data())
def test_every_proper_beginning_of_a_document_seems_cut_off(value: JSON, data: st.DataObject) -> None:
    """Wherever an object or array is cut, the sentence says that it ends too early."""
    text = dump(value)
    cut = data.draw(st.integers(min_value=1, max_value=len(text) - 1))
    assert "it seems cut off" in refusal(text[:cut]).message


@given(TEXTS)
def test_any_text_is_read_or_refused_in_a_sentence(text: str) -> None:
    """No input whatever leads to another error than `InvalidJSON`."""
    _read_or_refused(text)


@given(st.text(alphabet='[]{},:"\\ud8001eEN-. \nab'))
def test_near_json_is_read_or_refused_in_a_sentence(text: str) -> None:
    """Texts made of JSON's own characters lead to no other error either."""
    _read_or_refused(text)


def _read_or_refused(text: str) -> None:
    """What is read is written and read again the same; what is refused, in one line that says something."""
    refusal, value = None, None
    try:
        value = read_json(text)
    except InvalidJSON as error:
        refusal = error.message
    if refusal is not None:
        assert refusal.strip()
        assert "\n" not in refusal
        return
    written = dump(value)
    written.encode()
    assert same(read_json(written), value)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ('{"a": 1,\n "b" 2}', "line 2, column 6: a colon was expected after the key, and '2'", ""),
        ('{"a": [1, 2}', "column 12: a comma or the closing bracket", "array opened at line 1, column 7"),
        ('{"a": 1]', "']' was found", "object opened at line 1, column 1 closes with '}'"),
        ("[1, 2,]", "was expected", "a comma stands between two values only"),
        ('{"a": 1,}', "was expected", "a comma stands between two values only"),
        ("{'a': 1}", "column 2: a key in double quotes was expected", "double quotes"),
        ("{a: 1}", "column 2: a key in double quotes was expected", ""),
        ("[1, // one\n 2]", "column 5", "JSON has no comments"),
        ("[None]", "column 2", "null, true and false"),
        ('["a\nb"]', "a string holds this character without an escape", r"\n"),
        ('["]]\n"]', "line 1, column 5", r"\n"),
        ('["C:\\work"]', "this escape does not exist", "a backslash is written"),
        ('{"a": 1}\n{"a": 2}', "a second document, which begins at line 2, column 1", "JSON Lines"),
        ('{"a": 1}]', "ends before line 1, column 9, where ']' was found", "nothing may follow"),
        ("```json\n{}\n```\nDone!", "ends before line 3, column 1, where '`'", "nothing may follow"),
    ],
)
def test_broken_syntax_is_named_by_line_and_column(text: str, message: str, hint: str) -> None:
    """The sentence has the place and what stands there; the hint says what would have fitted."""
    error = refusal(text)
    assert message in error.message
    assert hint in str(error.hint)
    assert error.pointer == ""


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ('{"goal": "x",\n "steps": [{"type": "say"},', "an array opened at line 2, column 11"),
        ('{"goal": "x",\n "steps": [{"type"', "an object opened at line 2, column 12"),
        ('{"goal": "weekly dig', "a string opened at line 1, column 10"),
        ('["\\u12', "a string opened at line 1, column 2"),
        ("[tru", "an array opened"),
        ("[1.", "an array opened"),
        ("```json\n[1,", "an array opened at line 2, column 1"),
    ],
)
def test_a_text_that_ends_too_early_says_inside_what(text: str, inside: str) -> None:
    """What was open, and where it was opened, so that the rest can be asked for."""
    assert refusal(text).message == f"the plan ends inside {inside}: it seems cut off".replace(
        "an array opened:", "an array opened at line 1, column 1:"
    )


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("goal: find\nsteps:\n  - type: say", "which looks like YAML"),
        ("---\ngoal: find", "which looks like YAML"),
        ("# The plan\n\n1. search", "which looks like Markdown"),
        ("Here is the plan:\n```json\n{}\n```", "which looks like Markdown"),
        ("I cannot do that.", "it begins with 'I cannot do that.'"),
    ],
)
def test_other_languages_are_recognised(text: str, looks: str) -> None:
    """What is no JSON from its first character on is said to be what it resembles."""
    assert looks in refusal(text).message


@pytest.mark.parametrize("text", ["", " \n\t", b"", "\ufeff", "```\n```"])
def test_nothing_at_all_is_called_empty(text: str | bytes) -> None:
    """An empty file or answer is told apart from a broken one."""
    assert refusal(text).message == "the plan is empty"


@pytest.mark.parametrize(
    ("text", "pointer", "message"),
    [
        ('{"a": {"b": 1, "c/d": 2, "c/d": 3}}', "/a/c~1d", "the key 'c/d' stands twice"),
        ('[{"a": 1}, {"a": 1, "\\u0061": 2}]', "/1/a", "the key 'a' stands twice"),
        ('{"a": [1, NaN]}', "/a/1", "NaN stands where a value was expected"),
        ('{"a~b": -Infinity}', "/a~0b", "-Infinity stands"),
        ('{"x": 1, "a": [1e999]}', "/a/0", "1e999 is too large"),
        ("[" + "9" * 400 + ".0]", "/0", "is too large"),
        ("[0, " + "9" * 5000 + "]", "/1", "a whole number has 5,000 digits"),
        ('["ok", "\\ud800"]', "/1", "\\ud800 is half of a character"),
        ('["\ud83d"]', "/0", "\\ud83d is half of a character"),
        ('{"a": {"\\udc00": 1}}', "/a", "\\udc00 is half of a character"),
    ],
)
def test_a_value_that_does_not_fit_is_named_by_its_pointer(text: str, pointer: str, message: str) -> None:
    """The first such value of the document, as a JSON pointer that another program can follow."""
    error = refusal(text)
    assert error.pointer == pointer
    assert message in error.message
    assert (pointer or "its top") in error.message


def test_a_huge_number_before_broken_syntax_is_still_one_refusal() -> None:
    """Two faults of different kinds do not hide each other behind another exception."""
    assert "is not JSON at line 1" in refusal("[" + "9" * 5000 + " 1]").message


def test_pairs_of_surrogate_escapes_are_one_character() -> None:
    """What JSON escapes in two halves is read as the whole character."""
    assert read_json('["\\ud83d\\ude00", "\\\\ud800"]') == ["😀", "\\ud800"]


@pytest.mark.parametrize("deep", [201, 900, 10_000, 100_000])
@pytest.mark.parametrize("closed", [True, False])
def test_deep_nesting_is_refused_and_not_a_crash(deep: int, closed: bool) -> None:
    """However deep, and whether it ends or not, the place is the bracket one too many."""
    text = '[{"a":' * (deep // 2) + "[" * (deep % 2)
    if closed:
        text += "]" * (deep % 2) + ("null" if deep % 2 == 0 else "") + "}]" * (deep // 2)
    elif deep == 201:
        return
    error = refusal(text)
    if closed or deep > 1000:
        assert error.message == "the plan is nested more than 200 deep at line 1, column 601"
        assert error.pointer == "/0/a" * 100
    else:
        assert "cut off" in error.message


def test_the_place_of_deep_nesting_counts_what_stands_before_it() -> None:
    """Indices and keys in the pointer are those of the path itself, not of its neighbours."""
    text = '{"x": [9], "a": [0, {"y": {"z": 1}, "b": [' + "[" * 200 + "]" * 200 + "]}]}"
    assert refusal(text).pointer == "/a/1/b" + "/0" * 197


def test_brackets_in_strings_are_no_nesting() -> None:
    """Only arrays and objects count towards the depth, two hundred of them are read."""
    text = "[" * 200 + '"' + '\\"[{' * 500 + '"' + "]" * 200
    assert same(read_json(text), json.loads(text))


def test_a_large_flat_document_is_not_deep() -> None:
    """Many arrays side by side are as deep as one."""
    assert read_json("[" + ",".join(["[[]]"] * 5000) + "]") == [[[]]] * 5000


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[1, \xff]", "is not UTF-8 text: byte 0xff at position 4"),
        ('{"a": 1}'.encode("utf-16"), "looks like UTF-16 text"),
        ('{"a": 1}'.encode("utf-16-be"), "looks like UTF-16 text"),
        ('{"a": 1}'.encode("utf-32"), "looks like UTF-32 text"),
    ],
)
def test_bytes_that_are_not_utf8_are_named(data: bytes, message: str) -> None:
    """The encoding or the first wrong byte is said, instead of a syntax error somewhere."""
    assert message in refusal(data).message


def test_a_document_over_the_limit_of_bytes_is_refused() -> None:
    """The limit counts bytes, not characters, the same for both kinds of input."""
    assert read_json('"éé"', max_bytes=6) == "éé"
    for data in ('"ééé"', '"ééé"'.encode()):
        with pytest.raises(InvalidJSON, match=r"^the plan is longer than the 6 bytes that may be read$"):
            read_json(data, max_bytes=6)


def test_what_names_the_document_in_every_sentence() -> None:
    """A caller says what it is reading, and the sentence begins with that."""
    with pytest.raises(InvalidJSON, match=r"^inputs\.json ends inside"):
        read_json("[", what="inputs.json")


def test_lines_come_with_their_numbers_blank_and_fence_lines_aside() -> None:
    """Numbers are those of the text as written, also with Windows line ends."""
    text = '```jsonl\r\n{"type": "say"}\r\n\r\n{"type": "think"}\n```\n'
    expected = [(2, {"type": "say"}), (4, {"type": "think"})]
    assert list(read_json_lines(text)) == expected
    assert list(read_json_lines(b"\xef\xbb\xbf" + text.encode())) == expected
    assert list(read_json_lines(text.splitlines(keepends=True))) == expected


def test_a_line_is_read_before_the_next_one_exists() -> None:
    """A stream is read as it is written: nothing is asked of it beyond the line in hand."""
    asked: list[int] = []

    def stream() -> object:
        for number in (1, 2):
            asked.append(number)
            yield f"{number}\n"

    lines = read_json_lines(stream())  # type: ignore[arg-type]
    assert next(lines) == (1, 1)
    assert asked == [1]


def test_line_separators_of_unicode_do_not_end_a_line() -> None:
    """U+2028 may stand in a JSON string, so only line feeds divide JSON Lines."""
    assert list(read_json_lines('"a\u2028b"\n2')) == [(1, "a\u2028b"), (2, 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n\n{"b" 2}', "the session is not JSON at line 3, column 6"),
        ('{"a": 1}\n{"b": [', "the session ends inside an array opened at line 2, column 7"),
        ('1\n{"a": NaN}', "the session cannot be read at /a of line 2"),
        ("1\n2 3", "the session ends before line 2, column 3"),
    ],
)
def test_a_bad_line_is_named_after_the_good_ones_were_given(text: str, message: str) -> None:
    """Earlier lines are handed out; the sentence has the line, the pointer is empty."""
    lines = read_json_lines(text)
    next(lines)
    with pytest.raises(InvalidJSON) as caught:
        next(lines)
    assert message in caught.value.message
    assert caught.value.pointer == ""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "Out of range float values are not JSON compliant"),
        ([float("inf")], "Out of range float values are not JSON compliant"),
        ({"a": {1, 2}}, "Object of type set is not JSON serializable"),
        (["\ud800"], r"a text holds the lone surrogate '\\ud800'"),
        ({"\udfff": 1}, r"a text holds the lone surrogate '\\udfff'"),
        (object(), "Object of type object is not JSON serializable"),
    ],
)
def test_what_json_cannot_hold_is_not_written(value: JSON, message: str) -> None:
    """A value that could not be read back is refused before it is stored."""
    with pytest.raises(Invalid, match=message):
        dump(value)


def test_a_value_in_itself_or_endlessly_deep_is_not_written() -> None:
    """A circle, and a depth past the interpreter's stack, are refused and not a crash."""
    circle: list[object] = []
    circle.append(circle)
    deep: object = None
    for _ in range(100_000):
        deep = [deep]
    for value, message in ((circle, "Circular reference detected"), (deep, "maximum recursion depth exceeded")):
        with pytest.raises(Invalid, match=message):
            dump(value)  # type: ignore[arg-type]


def test_the_compact_form_keeps_order_and_letters() -> None:
    """The form that is hashed has no spaces, no sorting, and no escapes that JSON does not need."""
    assert dump({"b": [1, 1.0, None], "a": 'é "q"\n'}) == '{"b":[1,1.0,null],"a":"é \\"q\\"\\n"}'


@given(VALUES, VALUES)
def test_sameness_is_an_equivalence_that_dump_refines(a: JSON, b: JSON) -> None:
    """Each value is the same as itself, order of sides is no matter, and equal texts are the same value."""
    assert same(a, a)
    assert same(a, b) == same(b, a)
    if dump(a) == dump(b):
        assert same(a, b)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        (1, True, False),
        (0, False, False),
        (1, "1", False),
        (None, False, False),
        ("", [], False),
        ([], {}, False),
        ("ab", ["a", "b"], False),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, True),
        ({"a": [True]}, {"a": [1]}, False),
        ({"a": None}, {}, False),
        ([1, 2], [1], False),
        (2**53 + 1, float(2**53), False),
    ],
)
def test_sameness_is_that_of_json(a: JSON, b: JSON, expected: bool) -> None:
    """Numbers compare as numbers, other types never mix, objects have no order."""
    assert same(a, b) is expected
    assert same(b, a) is expected


def nested(levels: int) -> JSON:
    value: JSON = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("sort_keys", [False, True])
@pytest.mark.parametrize(
    "value",
    [
        *("", 'é \u2028 \x00 " \\ 😀', 0, -1, 2**70, 1.0, 0.1, 1e300, -0.0, True, None, [], {}),
        {"b": 1, "a": {"z": [], "y": ()}, "é": "\n"},
        [[[{"x": [1.5, None, False]}]], "/"],
        {2: "number", True: "true", None: "null", 1.5: "float"},
        float("nan"),
        float("-inf"),
        "\ud800",
        nested(300),
    ],
)
def test_the_shared_encoder_writes_what_json_writes(value: Any, sort_keys: bool) -> None:
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)
    assert outcome(compact_writer(sort_keys=sort_keys), value) == outcome(encoder.encode, value)


def test_the_shared_encoder_refuses_what_json_refuses() -> None:
    within: list[Any] = [1]
    within.append({"again": within})
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    write = compact_writer(allow_nan=False)
    for value in (float("nan"), [float("inf")], {"x": {1}}, {(1, 2): 3}, within, object()):
        assert outcome(write, value) == outcome(encoder.encode, value)
        assert isinstance(outcome(write, value), tuple)
    assert write([1, {"after": "a failure"}]) == '[1,{"after":"a failure"}]'


def test_the_shared_encoder_asks_for_what_it_does_not_know() -> None:
    write = compact_writer(default=lambda value: {"set": sorted(value)})
    assert write([{3, 1}, 2]) == '[{"set":[1,3]},2]'


def outcome(write: Callable[[Any], str], value: Any) -> str | tuple[type[Exception], str]:
    try:
        return write(value)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
