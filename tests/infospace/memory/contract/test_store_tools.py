"""What a space keeps of servers: the files that name them, their tools with ids for good, how calls went."""

from __future__ import annotations

from dataclasses import replace

import pytest
from store_tools import AT, LATER, Open, generation

from infospace.core.ids import Kind
from infospace.store.changes import MakeNote
from infospace.store.protocol import Store
from infospace.store.scoped_store import NotVisible, ScopedStore, Visibility
from infospace.store.tool_records import (
    AddSource,
    DropServer,
    DropTools,
    ForgetSource,
    ListedTool,
    RecordCall,
    SaveServer,
    SaveTools,
    StoredServer,
    ToolUse,
)

WHOLE = ListedTool(
    "read_file",
    "tool",
    "Read a file ✓",
    'Reads "all" of it\n\x00.',
    {"type": "object", "properties": {"path": {"type": "string"}, "b": {}, "a": {}}},
    {"type": "string"},
    True,
    False,
    None,
    ("disk", "é"),
    "files",
    ({"path": "a.txt"}, {}),
    {"size": 3},
)


def ids(store: Store, server: str | None = None) -> dict[str, str]:
    """Return the ids of tools by kind and name."""
    with store.reading() as snapshot:
        return {f"{tool.listed.kind}:{tool.listed.name}": tool.id for tool in snapshot.tools(server)}


def test_a_tool_comes_back_as_it_was_listed(store: Store) -> None:
    """Whatever stands in it; with its id, its server, and when it was first seen."""
    store.commit([SaveTools("files", [WHOLE, ListedTool("bare")])])
    with store.reading() as snapshot:
        whole, bare = snapshot.tools()
        assert snapshot.tools("files") == [whole, bare]
        assert snapshot.tools("other") == []
        assert snapshot.tool("files", "read_file") == snapshot.tool_by_id("tool_1") == whole
        assert snapshot.tool_counts() == {("files", "tool"): 2}
    assert (whole.id, whole.server, whole.listed, bare.listed) == ("tool_1", "files", WHOLE, ListedTool("bare"))
    assert list(whole.listed.input_schema["properties"]) == ["path", "b", "a"]
    assert whole.created


@pytest.mark.parametrize("identifier", ["tool_2", "tool_0", "tool_01", "tool_", "1", "Note_1", "tool_" + "9" * 40])
def test_what_is_no_id_of_a_tool_finds_none(store: Store, identifier: str) -> None:
    """And so does a name of another kind."""
    store.commit([SaveTools("files", [WHOLE])])
    with store.reading() as snapshot:
        assert snapshot.tool_by_id(identifier) is None
        assert snapshot.tool("files", "read_file", "prompt") is None
        assert snapshot.tool("other", "read_file") is None


def test_ids_stay_whatever_comes_and_goes(open_store: Open) -> None:
    """A tool that comes back has its own again, with the time it was first seen; nobody else ever has it."""
    store = open_store()
    store.commit(
        [SaveTools("a", [ListedTool("one"), ListedTool("two"), ListedTool("one", "prompt")]), SaveTools("b", [WHOLE])]
    )
    before = ids(store, "a")
    assert list(before.values()) == ["tool_1", "tool_2", "tool_3"]
    store.commit([DropTools("a", [("tool", "one"), ("prompt", "one"), ("tool", "never")])])
    assert ids(store) == {"tool:two": "tool_2", "tool:read_file": "tool_4"}
    store.commit([DropServer("b"), SaveTools("a", [ListedTool("three")])])
    assert ids(store) == {"tool:two": "tool_2", "tool:three": "tool_5"}
    again = open_store()
    again.commit([SaveTools("a", [ListedTool("one", description="new")]), SaveTools("b", [WHOLE])])
    assert ids(again) == {
        "tool:one": "tool_1",
        "tool:two": "tool_2",
        "tool:read_file": "tool_4",
        "tool:three": "tool_5",
    }
    with again.reading() as snapshot:
        found = snapshot.tool("a", "one")
    assert found is not None
    assert found.listed.description == "new"


def test_a_server_is_kept_as_it_was_last_known(store: Store) -> None:
    """By name; another word of it takes the place of the first."""
    first = StoredServer("b", "failed", b"\x00\xff", tried=AT, error="no such command", stderr="one\ntwo")
    second = StoredServer("a", "listed", b"x", "A", "1.0", "Use it.", AT, LATER, AT)
    store.commit([SaveServer(first), SaveServer(second)])
    with store.reading() as snapshot:
        assert snapshot.servers() == [second, first]
    store.commit([SaveServer(replace(first, state="listed", error=None)), DropServer("a"), DropServer("never")])
    with store.reading() as snapshot:
        assert snapshot.servers() == [replace(first, state="listed", error=None)]


def test_the_paths_of_files_are_remembered_in_their_order(store: Store) -> None:
    """Each once, until it is forgotten."""
    store.commit([AddSource("/b/mcp.json"), AddSource("/a/mcp.json"), AddSource("/b/mcp.json")])
    with store.reading() as snapshot:
        assert snapshot.tool_sources() == ["/b/mcp.json", "/a/mcp.json"]
    store.commit([ForgetSource("/b/mcp.json"), ForgetSource("/never")])
    with store.reading() as snapshot:
        assert snapshot.tool_sources() == ["/a/mcp.json"]


def test_who_keeps_tools_in_mind_learns_of_changes(store: Store) -> None:
    """By a number that calls do not move; and Notes have nothing to do with it."""
    before = generation(store)
    for number, change in enumerate((AddSource("/a"), SaveTools("a", [WHOLE]), DropServer("a")), 1):
        store.commit([change, RecordCall("a", "x", AT, 1.0, True)])
        with store.reading() as snapshot:
            assert snapshot.tools_generation() == number
    store.commit([RecordCall("a", "x", AT, 1.0, True)])
    with store.reading() as snapshot:
        assert snapshot.tools_generation() == 3
    assert generation(store) == before


@pytest.mark.parametrize(("calls", "p95"), [(1, 1.0), (19, 19.0), (20, 19.0), (21, 20.0), (100, 95.0), (101, 96.0)])
def test_calls_are_counted_with_their_times(store: Store, calls: int, p95: float) -> None:
    """How many, how many of them well, the mean, and what 95 of 100 do not exceed."""
    made = [RecordCall("a", "x", AT, float(time), time % 4 > 0) for time in range(calls, 0, -1)]
    store.commit([*made, RecordCall("b", "x", AT, 2.0, False)])
    with store.reading() as snapshot:
        assert snapshot.tool_uses("b", "y") == []
        whole = {(use.server, use.name): (use.execution_count, use.success_rate) for use in snapshot.tool_uses()}
        assert snapshot.tool_totals() == whole
        assert snapshot.tool_totals([("a", "x"), ("b", "y")]) == {("a", "x"): whole["a", "x"]}
        mine, other = snapshot.tool_uses()
        assert snapshot.tool_uses("a", "x") == [mine]
    well = sum(time % 4 > 0 for time in range(1, calls + 1)) / calls
    assert (mine.execution_count, mine.p95_ms) == (calls, p95)
    assert mine.success_rate == pytest.approx(well)
    assert mine.mean_ms == pytest.approx((calls + 1) / 2)
    assert other == ToolUse("b", "x", 1, 0.0, 2.0, 2.0)


def test_calls_of_all_tools_of_a_server_are_counted_together(store: Store) -> None:
    """The 95 of 100 are of all its calls, and not of the slowest tool."""
    made = [RecordCall("a", f"tool_{time % 3}", AT, float(time), time != 20) for time in range(1, 41)]
    store.commit([*made, RecordCall("b", "x", AT, 2.0, False)])
    with store.reading() as snapshot:
        mine, other = snapshot.server_uses()
    assert (mine.server, mine.name, mine.execution_count, mine.p95_ms) == ("a", "", 40, 38.0)
    assert mine.mean_ms == pytest.approx(20.5)
    assert mine.success_rate == pytest.approx(39 / 40)
    assert (other.server, other.execution_count, other.success_rate) == ("b", 1, 0.0)


def test_what_is_kept_goes_into_a_copy_of_the_space(store: Store) -> None:
    """And what is written to the copy stays there."""
    store.commit([AddSource("/a"), SaveTools("a", [WHOLE])])
    with store.overlay() as copy:
        copy.commit([DropServer("a"), ForgetSource("/a")])
        assert ids(copy) == {}
    assert ids(store) == {"tool:read_file": "tool_1"}


def test_a_caller_who_may_write_no_note_records_calls_and_lists_of_tools(store: Store) -> None:
    """They belong to the space, not to the Notes that the caller sees; a kept Note is refused to it."""
    scoped = ScopedStore(store, Visibility(notes="none"))
    scoped.commit([SaveTools("files", [ListedTool("bare")])])
    scoped.commit([RecordCall("files", "bare", AT, 3.0, well=True)])
    with store.reading() as snapshot:
        assert [(tool.server, tool.listed.name) for tool in snapshot.tools()] == [("files", "bare")]
        assert [(use.execution_count, use.name) for use in snapshot.tool_uses("files")] == [(1, "bare")]
    with pytest.raises(NotVisible) as refused:
        scoped.commit([MakeNote(store.new_id(Kind.NOTE), "x", kept=True)])
    assert str(refused.value) == (
        "this caller may not keep anything: its scope has `notes` 'none'"
        " (what a run makes for itself stays possible, without `name` and `persist`)"
    )
