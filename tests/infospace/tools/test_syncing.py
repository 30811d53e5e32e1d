"""The kept catalogue: when a server is started for it, what came and went, and what is kept of it."""

from __future__ import annotations

import gc
import sys
from operator import is_
from pathlib import Path
from typing import Any

import pytest

from infospace import InvalidJSON, NotFound, Space, open_space
from infospace.core.listener import NullListener
from infospace.core.tool import NotCalled, ToolFailed
from infospace.search.embedding.embedder import Embedder
from infospace.store.changes import Change
from infospace.store.tool_records import AddSource, DropTools, ListedTool, SaveServer, SaveTools, StoredServer
from infospace.tools.builtin import searched
from infospace.tools.mcp.servers import Servers
from infospace.tools.scope import Scope
from infospace.tools.search.results import ToolQuery

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from counting import calls
from served import call, odd, synced, until, write


def names(space: Space) -> list[str]:
    """Return the full names of the tools."""
    return [tool.full_name for tool in space.tools]


def servers(space: Space) -> Servers:
    """Return the servers of a space."""
    assert space.tools.servers is not None
    return space.tools.servers


def test_a_sync_starts_only_what_it_has_to(space: Space, tmp_path: Path) -> None:
    """Never listed, failed, another entry, or `restart`; what only we say of a server is seen at once."""
    path = write(tmp_path, a=odd("plain"), b=odd("changing"), c=odd("dies"))
    first = synced(space, mcp=path)
    assert (first.listed, first.unchanged, [one.server for one in first.failed]) == (["a", "b"], [], ["c"])
    assert "a/echo" in first.added
    write(tmp_path, a=odd("plain", tags=["new"]), b=odd("changing", "another argument"), c=odd("plain"))
    second = synced(space)
    assert (second.listed, second.unchanged, second.failed) == (["b", "c"], ["a"], [])
    assert second.changed == second.removed == []
    assert "new" in space.tools.get("a/echo").tags
    third = synced(space, restart=True)
    assert (third.listed, third.unchanged) == (["a", "b", "c"], [])
    assert (third.added, third.changed, third.removed) == ([], [], [])


def test_some_servers_are_listed_alone(space: Space, tmp_path: Path) -> None:
    """The others are left as they are, whatever is known of them; what one said is there while it runs, and after."""
    synced(space, mcp=write(tmp_path, a=odd("plain"), b=odd("dies"), c=odd("plain")))
    done = synced(space, restart=True, only=["a"])
    assert (done.listed, done.unchanged, done.failed) == (["a"], [], [])
    assert synced(space, only=["c"]).unchanged == ["c"]
    assert [one.server for one in synced(space, only=["b", "nobody"]).failed] == ["b"]
    pool = servers(space).pool
    with pytest.raises(ToolFailed, match="a/die failed: its server has ended; it said 'something broke'"):
        call(space, "a/die")
    until(lambda: "a" not in pool.running())
    assert (pool.output_tail("a"), pool.output_tail("b")) == ("something broke", None)


def test_a_list_holds_until_its_time_is_over(space: Space, tmp_path: Path) -> None:
    """A day where the server does not say."""
    synced(space, mcp=write(tmp_path, a=odd("plain")))
    with space.store.reading() as snapshot:
        (kept,) = snapshot.servers()
    assert kept.listed is not None
    assert kept.expires is not None
    assert kept.expires[:10] > kept.listed[:10]
    assert synced(space).listed == []
    space.store.commit([SaveServer(StoredServer(**{**_fields(kept), "expires": "2001-01-01T00:00:00.000Z"}))])
    assert synced(space).listed == ["a"]


def _fields(kept: StoredServer) -> dict[str, object]:
    return {name: getattr(kept, name) for name in StoredServer.__slots__}


def test_what_a_server_lists_no_more_vanishes_and_comes_back_as_it_was(space: Space, tmp_path: Path) -> None:
    """Removed, changed, added; with its id and the time it was first seen."""
    path = write(tmp_path, a=odd("plain"))
    synced(space, mcp=path)
    before = {tool.name: (tool.id, tool.created) for tool in space.tools}
    write(tmp_path, a=odd("instructs"))
    done = synced(space)
    assert "a/slow" in done.removed
    assert done.changed == ["a/echo"]
    assert names(space) == ["a/echo"]
    write(tmp_path, a=odd("plain"))
    assert "a/slow" in synced(space).added
    assert {tool.name: (tool.id, tool.created) for tool in space.tools} == before


def test_the_files_are_remembered_and_read_again_at_each_opening(tmp_path: Path) -> None:
    """Several of them, until one is forgotten."""
    one = write(tmp_path, "one.json", a=odd("plain"))
    two = write(tmp_path, "two.json", b=odd("instructs"))
    with open_space(tmp_path / "space.db") as space:
        synced(space, mcp=one)
        synced(space, mcp=two)
    write(tmp_path, "two.json", b=odd("instructs", description="Says things.", category="words", disabled_tools=["x"]))
    with open_space(tmp_path / "space.db") as space:
        tool = space.tools.get("b/echo")
        assert (tool.server_description, tool.category, tool.trusted) == ("Says things.", "talk", False)
        done = synced(space, forget=one)
        assert done.files == [str(two)]
        assert "a/echo" in done.removed
        assert names(space) == ["b/echo"]
        with space.store.reading() as kept:
            assert [server.name for server in kept.servers()] == ["b"]
        with pytest.raises(NotFound, match=r"does not remember .*one\.json' \(it remembers .*two\.json\)"):
            synced(space, forget=one)


def test_without_any_the_file_beside_the_space_is_read(tmp_path: Path) -> None:
    """A server there that was never listed is known by its description; a tool of it says what to do."""
    write(tmp_path, a=odd("plain", description="Repeats texts."), off=odd("plain", disabled=True))
    with open_space(tmp_path / "space.db") as space:
        known = servers(space).all()
        assert [(one.name, one.state, one.title, one.description) for one in known] == [
            ("a", "never listed", "", "Repeats texts."),
            ("off", "disabled", "", ""),
        ]
        with pytest.raises(NotFound, match="the server 'a' was never listed; `infospace tools sync` lists it"):
            space.tools.get("a/echo")
        with pytest.raises(NotFound, match=r"the server 'off' is disabled in .*mcp\.json"):
            space.tools.get("off/echo")
        assert synced(space).listed == ["a"]
        (a, _) = servers(space).all()
        assert (a.state, a.title, a.tools, a.prompts, a.resources) == ("listed", "The odd server", 11, 1, 2)


def test_a_file_that_cannot_be_read_takes_nothing_away(space: Space, tmp_path: Path) -> None:
    """Given by name it is an error; a remembered one is told of, and what is kept of its servers stays."""
    path = write(tmp_path, a=odd("plain"))
    synced(space, mcp=path)
    path.write_text("{")
    done = synced(space)
    assert done.unreadable
    assert done.removed == []
    with pytest.raises(InvalidJSON, match="ends inside an object opened at line"):
        synced(space, mcp=path)
    with pytest.raises(NotFound, match=r"no tool 'a/echo' \(.*mcp\.json' ends inside"):
        space.tools.get("a/echo")
    write(tmp_path, a={"command": 1})
    servers(space).reload()
    with pytest.raises(NotFound, match="its entry is wrong: 'command' is a text, not 1"):
        space.tools.get("a/echo")
    write(tmp_path, a=odd("plain"))
    assert synced(space).unchanged == ["a"]
    assert "a/echo" in names(space)


def test_a_server_that_fails_keeps_what_it_listed(space: Space, tmp_path: Path) -> None:
    """Its tools are there, and not connected."""
    path = write(tmp_path, a=odd("plain"))
    synced(space, mcp=path)
    write(tmp_path, a=odd("dies"))
    done = synced(space)
    assert [one.server for one in done.failed] == ["a"]
    assert done.removed == []
    assert not space.tools.get("a/echo").connected
    (server,) = servers(space).all()
    assert server.state == "failed"
    assert server.kept is not None
    assert "ended with code 3" in str(server.kept.error)
    assert "cannot find its configuration" in server.kept.stderr


def test_no_value_of_env_or_headers_is_stored(tmp_path: Path) -> None:
    """Not in the file of the space, whatever a server does with them; nor in what it answers to a failure."""
    entry = odd("dies", env={"KEY": "hush-hush-1"})
    loud = {"command": "sh", "args": ["-c", 'echo "my key is $KEY" >&2; exit 1'], "env": {"KEY": "hush-hush-2"}}
    web = {"url": "http://127.0.0.1:9/", "headers": {"Authorization": "Bearer hush-hush-3"}}
    with open_space(tmp_path / "space.db") as space:
        done = synced(space, mcp=write(tmp_path, a=entry, b=loud, c=web))
        assert "my key is •••" in done.failed[1].reason
        assert "hush" not in str(done.to_json())
    assert b"hush" not in b"".join(path.read_bytes() for path in tmp_path.glob("space.db*"))


def test_what_an_entry_says_is_seen_on_its_tools(space: Space, tmp_path: Path) -> None:
    """With what the server says."""
    entry = odd(
        "plain", tags=["ours", "text"], trusted=True, blocked=True, visibility="team", team="blue", timeout_s=7,
        autoApprove=["echo"], disabled_tools=["slow"], examples={"echo": [{"text": "ours"}], "die": []},
    )  # fmt: skip
    synced(space, mcp=write(tmp_path, a=entry))
    tool = space.tools.get("a/echo")
    assert (tool.tags, tool.category, tool.server_title) == (("text", "ours"), "talk", "The odd server")
    assert (tool.trusted, tool.blocked, tool.visibility, tool.team) == (True, True, "team", "blue")
    assert (tool.auto_approved, tool.timeout_s, tool.integration, tool.connected) == (True, 7.0, "MCP", True)
    assert (tool.read_only, tool.destructive, tool.annotated) == (True, False, True)
    assert tool.examples == ({"text": "hello"}, {"text": "ours"})
    assert tool.server_description == "Ask it."
    other = space.tools.get("a/die")
    assert (other.auto_approved, other.category, other.annotated, other.destructive) == (
        False,
        "The odd server",
        False,
        True,
    )
    assert "a/slow" not in names(space)
    assert space.tools.find("a/slow") is None


def test_no_server_lets_its_tools_into_a_scope_by_its_own_word(space: Space, tmp_path: Path) -> None:
    """A tag that it gives them counts where it is trusted; where a scope excludes the tag, it is believed."""
    synced(space, mcp=write(tmp_path, a=odd("plain"), b=odd("plain", trusted=True), c=odd("plain", tags=["text"])))
    included = [tool.full_name for tool in space.tools.scoped(Scope(include_tags=("text",)))]
    assert "c/die" in included
    assert [name for name in included if not name.startswith("c/")] == ["b/echo"]
    excluded = [tool.full_name for tool in space.tools.scoped(Scope(exclude_tags=("text",)))]
    assert {"a/die", "b/die"} <= set(excluded)
    assert not {"a/echo", "b/echo", "c/die"} & set(excluded)
    assert space.tools.get("a/echo").tags == ("text",)


def test_prompts_and_resources_are_listed_with_their_kind(space: Space, tmp_path: Path) -> None:
    """They are no tools, and cannot be called as one."""
    synced(space, mcp=write(tmp_path, a=odd("plain")))
    others = {tool.full_name: tool for tool in space.tools.everything() if tool.kind != "tool"}
    assert {name: tool.kind for name, tool in others.items()} == {
        "a/greet": "prompt",
        "a/odd://one": "resource",
        "a/odd://{name}": "resource",
    }
    assert others["a/greet"].input_schema["required"] == ["who"]
    assert others["a/odd://{name}"].input_schema["properties"] == {"name": {"type": "string"}}
    assert [(one.tools, one.prompts, one.resources) for one in servers(space).all()] == [(len(names(space)), 1, 2)]
    assert space.tools.find("a/greet") is None
    assert not set(others) & set(names(space))


def test_a_server_that_was_never_listed_has_nothing_of_any_kind(space: Space, tmp_path: Path) -> None:
    """Which is a number, as of any other."""
    synced(space, mcp=write(tmp_path, a=odd("plain", disabled=True)))
    assert [(one.tools, one.prompts, one.resources) for one in servers(space).all()] == [(0, 0, 0)]


def test_many_kept_tools_are_no_burden(tmp_path: Path) -> None:
    """A space is opened, and one of them found, by as many calls as in one of few; all are read a few calls each."""

    def found(count: int) -> tuple[int, int]:
        folder = tmp_path / str(count)
        folder.mkdir()
        write(folder, a=odd("plain"))
        listed = [
            ListedTool(f"tool_{at}", input_schema={"properties": {"a": {"type": "string"}}}) for at in range(count)
        ]
        with open_space(folder / "space.db") as space:
            space.store.commit([SaveTools("a", listed), SaveServer(StoredServer("a", "listed", b""))])

        def one() -> None:
            with open_space(folder / "space.db") as space:
                assert space.tools.get(f"a/tool_{count - 1}").id == f"tool_{count}"

        def every() -> None:
            with open_space(folder / "space.db") as space:
                assert len(list(space.tools)) == count

        one()
        return calls(one), calls(every)

    few, many = found(50), found(5_000)
    assert many[0] < 1.1 * few[0]
    assert many[1] < few[1] + 30 * 5_000


def test_as_many_servers_as_there_are_are_read_at_once(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what was read is what it was, until a server lists something else."""
    names = [f"s{number}" for number in range(40)]
    path = write(Path(space.store.address).parent, **{name: odd("plain") for name in names})
    changes: list[Change] = [AddSource(str(path))]
    for name in names:
        changes += [SaveServer(StoredServer(name, "listed", b"")), SaveTools(name, [ListedTool("a"), ListedTool("b")])]
    space.store.commit(changes)
    opened: list[int] = []
    reading = space.store.reading

    def counted() -> Any:
        opened.append(1)
        return reading()

    assert space.tools.servers is not None
    space.tools.servers.reload()
    monkeypatch.setattr(space.store, "reading", counted)
    first = list(space.tools)
    assert (len(first), len(opened)) == (80, 2)
    assert all(map(is_, list(space.tools), first))
    assert len(opened) == 3
    space.store.commit([DropTools("s7", [("tool", "a")])])
    assert [tool.full_name for tool in first if tool not in list(space.tools)] == ["s7/a"]


def test_a_space_may_have_providers_of_its_own_besides(space: Space, tmp_path: Path) -> None:
    """A name that a server has is taken."""
    from infospace import Conflict
    from infospace.tools.local import LocalTools

    synced(space, mcp=write(tmp_path, a=odd("plain")))
    with pytest.raises(Conflict, match="there is a server 'a' already"):
        space.tools.add(LocalTools("a"))
    local = LocalTools("local")

    @local.tool()
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    space.tools.add(local)
    assert call(space, "local/double", n=4).content == 8
    assert call(space, "a/echo", text="x").content == "x"


class Heard(NullListener):
    """A listener that writes down how far it is, and makes a file when the first of all is done."""

    def __init__(self, first: Path) -> None:
        self.said: list[tuple[int, int, str]] = []
        self._first = first

    def progress(self, done: int, total: int, what: str) -> None:
        self.said.append((done, total, what))
        if done:
            self._first.touch()


def test_progress_names_the_servers_that_it_waits_for(space: Space, tmp_path: Path) -> None:
    """So that whoever waits sees which one takes its time."""
    heard = Heard(tmp_path / "first")
    synced(space, mcp=write(tmp_path, a=odd("plain"), z=odd("waits", str(tmp_path / "first"))), listener=heard)
    assert heard.said[:2] == [(0, 2, "servers listed; waiting for a"), (0, 2, "servers listed; waiting for a, z")]
    assert heard.said[-2:] == [(1, 2, "servers listed; waiting for z"), (2, 2, "servers listed")]


def test_without_the_client_it_is_told_what_to_install(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence, and with nothing left that was begun."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(NotCalled, match=r"tools of servers need the package `mcp`") as raised:
        synced(space, mcp=write(tmp_path, a=odd("plain"), b=odd("plain")))
    assert raised.value.hint == "the installation is not whole: install infospace again, as you did"
    gc.collect()


def test_no_server_waits_for_another_one_and_each_is_told_when_it_is_done(space: Space, tmp_path: Path) -> None:
    """Twelve that never answer are waited for by themselves alone; the one that answers is told first."""
    heard: list[tuple[str, bool]] = []
    entries = {f"silent{number}": odd("hangs", start_timeout_s=3) for number in range(12)}
    path = write(tmp_path, **entries, zz=odd("plain"))
    done = synced(space, mcp=path, heard=lambda one: heard.append((one.server, one.failed is None)))
    assert heard[0] == ("zz", True)
    assert sorted(heard[1:]) == sorted((name, False) for name in entries)
    assert all("did not answer within 3 s" in one.reason for one in done.failed)


def test_a_server_called_like_a_step_is_refused_in_a_sentence(space: Space, tmp_path: Path) -> None:
    """Also one that was listed before under that name, as by an earlier version."""
    space.store.commit([SaveServer(StoredServer("query", "listed", b"")), SaveTools("query", [ListedTool("run")])])
    done = synced(space, mcp=write(tmp_path, **{"plan:x": odd("plain"), "query": odd("plain"), "good": odd("plain")}))
    assert (done.listed, done.removed) == (["good"], ["query/run"])
    with space.store.reading() as snapshot:
        assert [one.name for one in snapshot.servers()] == ["good"]
    told = {one.server: (one.reason, one.hint) for one in done.failed}
    assert told == {
        "plan:x": (
            "a server cannot be called 'plan:x': `plan:` begins the names of saved plans",
            "give it another name, such as 'x'",
        ),
        "query": (
            "a server cannot be called 'query': that is a step of its own",
            "give it another name, such as 'query-server'",
        ),
    }
    assert [name for name in names(space) if name.startswith(("plan:", "query/"))] == []


class EmbeddingHeard(NullListener):
    """Hears how far the embedding has come."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int]] = []

    def progress(self, done: int, total: int, what: str) -> None:
        """Note a step of the embedding."""
        if what == "embedding":
            self.steps.append((done, total))


def test_a_sync_embeds_so_that_no_search_waits(space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With progress; without it a search that may embed nothing says that tools wait for it."""
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "0")
    synced(space, mcp=write(tmp_path, a=odd("several")))

    def degraded() -> str | None:
        return space.finder.find(searched(space, others=True), ToolQuery("say a text"), None, ()).degraded

    assert "wait to be embedded" in str(degraded())
    heard = EmbeddingHeard()
    done = synced(space, embed=True, listener=heard)
    assert done.by_words is None
    assert heard.steps[-1][0] == heard.steps[-1][1] > 500
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "1")
    embedded: list[str] = []
    monkeypatch.setattr(Embedder, "embed", lambda _, texts, *rest: embedded.extend(texts) or rest)
    assert degraded() is None
    assert embedded == []
