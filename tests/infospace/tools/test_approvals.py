"""Which tools are asked about before they are called, what is asked, and what is remembered."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from infospace import Invalid, NotFound, Space
from infospace.core.tool import NotAllowed, Tool
from infospace.data.json_text import dump, read_json
from infospace.journal.rows import Approve
from infospace.tools.approvals import (
    APPROVAL_CHOICES,
    APPROVAL_SCHEMA,
    allowed,
    approvals_from_answer,
    list_approvals,
    must_ask,
    parse_question,
    parse_tool_names,
    question,
    repeat_question,
    revoke_approval,
    unknown_tool_names,
)
from infospace.tools.call import call_for_step
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync

WRITE = Tool("files", "write", "Write a file.", {"type": "object"}, destructive=True)
AT = "2026-04-01T09:30:00.123Z"


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"destructive": True}, True),
        ({"destructive": True, "trusted": False}, True),
        ({"destructive": False}, False),
        ({"destructive": False, "trusted": False}, False),
        ({"destructive": True, "read_only": True}, False),
        ({"annotated": False, "destructive": True, "trusted": False}, True),
        ({"annotated": False, "destructive": False, "trusted": False}, True),
        ({"annotated": False, "destructive": True, "trusted": True}, False),
        ({"destructive": True, "auto_approved": True}, False),
        ({"annotated": False, "trusted": False, "auto_approved": True}, False),
    ],
)
def test_destructive_tools_are_asked_about_and_those_that_say_nothing_where_nobody_is_trusted(
    fields: dict[str, Any], asked: bool
) -> None:
    """A tool that only reads takes nothing away, whatever else it says."""
    assert must_ask(replace(WRITE, **fields)) is asked


def test_a_question_shows_tool_server_and_arguments() -> None:
    """Long ones are cut, and say so, each by itself: none hides behind another."""
    asked = question(WRITE, {"text": "x" * 5000, "list": list(range(90)), "deep": {"more": "y" * 300}, "path": "last"})
    assert asked.startswith("call the tool write of the server files, which may take something away, with {")
    shown: Any = read_json(asked.partition(" with ")[2].removesuffix("?"))
    assert shown["path"] == "last"
    assert shown["text"].endswith("… [cut: 5,000 characters in all]")
    assert shown["deep"]["more"].endswith("… [cut: 300 characters in all]")
    assert (len(shown["list"]), shown["list"][-1]) == (21, "… [cut: 90 elements in all]")
    many = question(WRITE, {f"key {n}": "z" * 150 for n in range(50)})
    assert len(many) < 2_200
    assert "characters in all]?" in many
    assert "does not say what it does" in question(replace(WRITE, annotated=False), {})


def test_a_question_is_told_apart_into_what_is_asked_and_the_arguments() -> None:
    """Not where they were cut, nor where a name is made to look like arguments."""
    given = {"path": "a, with b?", "deep": {"more": [1, None]}, "force": True}
    assert parse_question(question(WRITE, given)) == (
        "call the tool write of the server files, which may take something away?",
        given,
    )
    assert parse_question(question(WRITE, {})) == (
        "call the tool write of the server files, which may take something away?",
        {},
    )
    assert parse_question(question(WRITE, {f"key {n}": "z" * 150 for n in range(50)})) is None
    assert parse_question(question(replace(WRITE, name='read, with {"path": "harmless"}? write'), given)) is None
    assert parse_question("Keep the report?") is None


def test_the_schema_of_an_answer_says_what_each_word_means() -> None:
    """For people and for models."""
    assert APPROVAL_SCHEMA["enum"] == list(APPROVAL_CHOICES) == ["once", "run", "always", "no"]
    assert all(meaning in str(APPROVAL_SCHEMA["description"]) for meaning in APPROVAL_CHOICES.values())


def test_tools_are_named_one_by_one_or_all_of_a_server() -> None:
    """Anything else is refused in a sentence."""
    assert parse_tool_names(["files/write", "git/*", "files/write"]) == ["files/write", "git/*"]
    for wrong in ("write", "*", "*/write", "files/", "/write", "files/w*", ""):
        with pytest.raises(Invalid, match=r"names no tool .*server/tool, or server/\*"):
            parse_tool_names([wrong])


def test_a_name_that_fits_no_tool_is_told_with_the_nearest() -> None:
    """Since it may have been mistyped."""
    assert unknown_tool_names(["files/write", "files/*"], [WRITE]) == []
    [message] = unknown_tool_names(["files/wirte"], [WRITE])
    assert message == "no tool here is called files/wirte; did you mean files/write?"


def test_what_is_always_allowed_holds_until_the_tool_says_something_else(space: Space) -> None:
    """Its name, its description and its schema count, and nothing besides."""
    assert not allowed(space.store, WRITE, None)
    space.store.commit([], [Approve(WRITE.full_name, WRITE.digest, AT)])
    assert allowed(space.store, WRITE, None)
    assert allowed(space.store, replace(WRITE, title="Writer", connected=False), None)
    for changed in ({"description": "Delete all."}, {"input_schema": {"type": "object", "required": ["x"]}}):
        assert not allowed(space.store, replace(WRITE, **changed), None)
    assert not allowed(space.store, replace(WRITE, name="delete"), None)


def test_what_is_always_allowed_can_be_listed_and_forgotten(space: Space) -> None:
    """One by one, or all of a server; what is not there is told with the nearest."""
    tools = ("files/delete", "files/write", "filesystem/move", "git/push")
    space.store.commit([], [Approve(tool, b"d", AT) for tool in tools])
    assert [one.tool for one in list_approvals(space.store)] == list(tools)
    with pytest.raises(NotFound, match="did you mean 'git/push'"):
        revoke_approval(space.store, "git/pull")
    assert revoke_approval(space.store, "git/push") == ["git/push"]
    assert revoke_approval(space.store, "files/*") == ["files/delete", "files/write"]
    assert [one.tool for one in list_approvals(space.store)] == ["filesystem/move"]
    with pytest.raises(NotFound, match="there are filesystem/move"):
        revoke_approval(space.store, "file/*")
    assert revoke_approval(space.store, "filesystem/move") == ["filesystem/move"]
    assert list_approvals(space.store) == []


def test_outside_of_a_run_nobody_is_asked_and_nothing_called(space: Space) -> None:
    """But what is always allowed is called; a blocked tool never is."""
    made, server = [], LocalTools("files")

    @server.tool(destructive=True)
    def write(path: str) -> bool:
        """Write a file."""
        made.append(path)
        return True

    space.tools.add(server)
    tool = space.tools.get("files/write")
    with pytest.raises(NotAllowed, match="nobody is asked"):
        asyncio.run(call_for_step(space.context(), tool, {"path": "a"}))
    space.store.commit([], [Approve("files/write", tool.digest, AT)])
    assert asyncio.run(call_for_step(space.context(), tool, {"path": "a"})).content is True
    with pytest.raises(NotAllowed, match="files/write is blocked"):
        asyncio.run(call_for_step(space.context(), replace(tool, blocked=True, auto_approved=True), {"path": "a"}))
    assert made == ["a"]


@pytest.mark.parametrize(("read_only", "reads"), [(True, True), (True, False), (False, False), (False, True)])
def test_only_what_reads_alone_is_refused_a_tool_that_may_change_things(
    space: Space, read_only: bool, reads: bool
) -> None:
    """Which is a condition; a step may call either."""
    made, server = [], LocalTools("files")

    @server.tool(read_only=read_only)
    def stat(path: str) -> bool:
        """Look at a file."""
        made.append(path)
        return True

    space.tools.add(server)
    calling = call_for_step(space.context(), space.tools.get("files/stat"), {"path": "a"}, reads=reads)
    if reads and not read_only:
        with pytest.raises(Invalid, match="unchecked: files/stat may change things, and a condition only reads"):
            asyncio.run(calling)
    else:
        assert asyncio.run(calling).content is True
    assert made == ([] if reads and not read_only else ["a"])


def test_a_list_that_a_question_shows_is_cut_behind_its_twentieth_element() -> None:
    """One of twenty is whole."""
    whole, cut = (question(WRITE, {"rows": [7] * size}) for size in (20, 21))
    assert "cut" not in whole
    assert whole.count("7") == 20
    assert cut.count("7") == 20
    assert "[cut: 21 elements in all]" in cut


def test_what_is_allowed_by_name_alone_is_not_enough_for_a_tool_that_is_another_now(space: Space) -> None:
    """Neither an approval in the run, nor the entry of its server; what was said of it as it is now is."""
    space.store.commit([], [Approve("files/write", None, AT)])
    assert allowed(space.store, WRITE, None)
    assert not allowed(space.store, WRITE, None, by_name=False)
    by_entry = replace(WRITE, name="erase", auto_approved=True)
    assert allowed(space.store, by_entry, None)
    assert not allowed(space.store, by_entry, None, by_name=False)
    space.store.commit([], [Approve("files/write", WRITE.digest, AT)])
    assert allowed(space.store, WRITE, None, by_name=False)


def test_a_run_that_wants_an_approval_says_which_words_it_takes(space: Space) -> None:
    """Whoever asks for it, by whichever door, has the choices from there."""
    files = LocalTools("files")

    @files.tool(destructive=True)
    async def write(path: str) -> str:
        """Write a file."""
        return path

    space.tools.add(files)
    [pending] = run_sync(space, [{"type": "files/write", "arguments": {"path": "a"}}]).pending
    assert (pending.kind, pending.schema) == ("approve", APPROVAL_SCHEMA)


def test_what_is_not_called_says_what_can_be_done(space: Space) -> None:
    """Where it is blocked, where nobody is asked, and where nothing is allowed that could be taken back."""
    server = LocalTools("files")

    @server.tool(destructive=True)
    def write(path: str) -> str:
        """Write a file."""
        return path

    space.tools.add(server)
    tool = space.tools.get("files/write")
    for one, message, hint in (
        (replace(tool, blocked=True), "files/write is blocked, and was not called", "mcp.json blocks it"),
        (
            tool,
            "files/write is asked about before it is called, and outside of a run nobody is asked",
            "call it in a plan",
        ),
    ):
        with pytest.raises(NotAllowed) as refused:
            asyncio.run(call_for_step(space.context(), one, {"path": "a"}))
        assert (refused.value.message, str(refused.value.hint)[-len(hint) :]) == (message, hint)
    with pytest.raises(Invalid) as unfit:
        asyncio.run(call_for_step(space.context(), tool, [1]))
    assert unfit.value.message == "unchecked: the arguments of files/write are an object, not [1]"
    with pytest.raises(Invalid, match=r"^unchecked: the arguments of files/write do not fit its schema: "):
        asyncio.run(call_for_step(space.context(), tool, {"path": 1}))
    with pytest.raises(NotFound) as none:
        revoke_approval(space.store, "files/write")
    assert none.value.message == "'files/write' is not among the tools that may always be called"
    assert none.value.hint is None


def test_what_is_asked_again_names_the_step_that_called_it() -> None:
    """Of this run, or of the one that it was forked from."""
    begin = "call the tool write of the server files again, though step "
    assert repeat_question(WRITE, {"a": 1}, "4") == f'{begin}4 of this run called it so already, with {{"a":1}}?'
    assert repeat_question(WRITE, {}, "4 of run_7") == f"{begin}4 of run_7 called it so already, with {{}}?"


def test_a_text_that_a_question_shows_is_cut_behind_two_hundred_characters() -> None:
    """All arguments together behind two thousand."""
    whole, cut = (question(WRITE, {"text": "x" * size}) for size in (200, 201))
    assert f'"{"x" * 200}"' in whole
    assert "… [cut: 201 characters in all]" in cut
    parts = {f"k{number}": "x" * 180 for number in range(10)}
    left = 2_000 - len(dump(parts)) - len(dump({"z": ""})) + 1
    for more, is_cut in ((left, False), (left + 1, True)):
        asked = question(WRITE, {**parts, "z": "x" * more})
        assert (" characters in all]?" in asked) is is_cut


def test_names_that_fit_no_tool_are_told_each() -> None:
    assert unknown_tool_names(["zzzz/qqqq", "files/wirte"], [WRITE]) == [
        "no tool here is called zzzz/qqqq",
        "no tool here is called files/wirte; did you mean files/write?",
    ]


@pytest.mark.parametrize(
    ("word", "allowed_then"),
    [
        ("run", [Approve("post/send", b"as it is", "now", "run_1")]),
        ("always", [Approve("post/send", b"as it is", "now")]),
        ("once", []),
        ("no", []),
        ({"run": True}, []),
    ],
)
def test_what_an_answer_allows_beyond_its_call(word: Any, allowed_then: list[Approve]) -> None:
    """The tool as it is: in the run, or in the space."""
    assert approvals_from_answer(word, "run_1", "post/send", b"as it is", "now") == allowed_then
