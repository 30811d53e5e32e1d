"""`infospace tools search|list|describe|call|categories|similar|approvals|audit`."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "infospace" / "tools"))
sys.path.insert(0, str(Path(__file__).parents[2]))
from at_terminal import calls, command, terminal
from served import odd, synced, write

from infospace import open_space
from infospace.journal.rows import Approve
from infospace.store.tool_records import ListedTool, SaveTools
from infospace.tools.search.results import ToolQuery
from planner.metatools.registry import META
from planner.metatools.search_tools import find_tools
from tui.command.tools.common import line
from tui.command.tools.describe import _about, _measured

pytestmark = pytest.mark.usefixtures("warm_processes")


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a space that knows two servers of tools, whose descriptions are embedded. Copy what is in it."""
    folder = tmp_path_factory.mktemp("listed")
    write(folder, one=odd("plain", description="Says texts again."), bad=odd("instructs", trusted=True))
    with open_space(folder / "space.db") as space:
        assert synced(space).failed == []
        find_tools(space, ToolQuery("texts"))
    return folder


@pytest.fixture
def known(cli: Any, listed: Path, tmp_path: Path) -> Path:
    """A folder with a space that knows two servers of tools."""
    for name in ("mcp.json", "space.db"):
        shutil.copyfile(listed / name, tmp_path / name)
    return tmp_path


def answered(folder: Path, name: str, **given: Any) -> Any:
    """Return what the meta-tool itself answers."""
    with open_space(folder / "space.db") as space:
        return asyncio.run(META[name].call(space, given))


@pytest.mark.parametrize(
    ("words", "meta", "given"),
    [
        (
            ["search", "say a text again", "--limit", "2", "--server", "one", "--mode", "keyword", "--schemas"],
            "search_tools",
            {
                "query": "say a text again",
                "limit": 2,
                "filters": {"servers": ["one"]},
                "search_type": "keyword",
                "include_schemas": True,
            },
        ),
        (
            ["list", "--page", "2", "--page-size", "3", "--sort", "created_at", "--desc", "--type", "MCP"],
            "list_tools",
            {
                "page": 2,
                "page_size": 3,
                "sort_by": "created_at",
                "sort_order": "desc",
                "filters": {"integration_type": "MCP"},
            },
        ),
        (
            ["list", "--tag", "text", "--name", "^echo$", "--examples", "--contains", "SAY"],
            "list_tools",
            {
                "filters": {
                    "tags": ["text"],
                    "name_pattern": "^echo$",
                    "has_examples": True,
                    "description_contains": "SAY",
                }
            },
        ),
        (
            ["list", "--category", "no", "--visibility", "nobody", "--team", "red"],
            "list_tools",
            {"filters": {"categories": ["no"], "visibility": ["nobody"], "teams": ["red"]}},
        ),
        (
            ["list", "--server", "one", "--server", "bad", "--exclude-tag", "text", "--no-examples", "--schemas"],
            "list_tools",
            {
                "filters": {"servers": ["one", "bad"], "exclude_tags": ["text"], "has_examples": False},
                "include_schemas": True,
            },
        ),
        (
            ["describe", "one/echo", "--metrics", "--similar", "--no-examples"],
            "describe_tool",
            {"tool_name": "one/echo", "include_metrics": True, "include_similar": True, "include_examples": False},
        ),
        (
            ["categories", "--servers", "--no-tags"],
            "get_tool_categories",
            {"include_servers": True, "include_tags": False},
        ),
        (["similar", "one/echo", "--limit", "3"], "get_similar_tools", {"tool_name": "one/echo", "limit": 3}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_json_is_what_the_meta_tool_answers(
    cli: Any, known: Path, words: list[str], meta: str, given: dict[str, Any]
) -> None:
    """Each option is passed on."""
    said = cli("tools", *words, "--json")
    assert said.code == 0
    assert said.json == json.loads(json.dumps(answered(known, meta, **given)))


def test_a_person_reads_lines(cli: Any, known: Path) -> None:
    """With what is to be known about them: how well they fit, why, and in what way their words instruct."""
    found = cli("tools", "search", "say a text again", "--limit", "1", "--server", "one")
    assert "one/echo" in found.out
    assert "Say a text again." in found.out
    assert re.match(r"[01]\.\d{3}  +\d+%  one/echo", found.out)
    more = cli("tools", "search", "say a text again", "--limit", "50", "--json").json
    assert 0 < more["matched"] < len(more["tools"])
    shown = cli("tools", "search", "say a text again", "--limit", "50").err
    assert f"{more['matched']} of {more['searched']} probably fit; the nearest {len(more['tools'])} are shown" in shown
    assert " that fit, " in cli("tools", "search", "say a text again", "--min-score", ".2").err
    assert "! its description asks to ignore" in cli("tools", "search", "echo", "--server", "bad").out
    assert "none of" in cli("tools", "search", "bake a chocolate cake").err
    listed = cli("tools", "list", "--server", "one", "--page-size", "3")
    assert (listed.out.count("\n"), "page 1 of 5, 14 tools in all" in listed.err) == (3, True)
    described = cli("tools", "describe", "one/echo", "--metrics")
    for part in (
        "the server one says: Say a text again.",
        "read only",
        "it needs no approval",
        "never called",
        '"text"',
    ):
        assert part in described.out
    assert "it needs approval before each call" in cli("tools", "describe", "one/slow").out
    assert "Says texts again." in cli("tools", "categories", "--servers").out
    assert "both are named echo" in cli("tools", "similar", "one/echo").out


def test_types_are_json_schemas_or_names_of_types(cli: Any, tmp_path: Path) -> None:
    """How a tool fits stands below it; what is neither is refused in a sentence."""
    write(tmp_path, rude=odd("rude"))
    assert cli("tools", "sync").code == 0
    found = cli("tools", "search", "--output", "boolean", "--input", "{}")
    assert (found.code, found.out) == (0, "")
    found = cli("tools", "search", "is it true", "--output", "boolean")
    assert "rude/truth" in found.out
    assert "    gives it\n" in found.out
    assert "do not say what they give are left out" in found.err
    takes = json.dumps({"properties": {"text": {"type": "string"}}})
    assert "    takes it as text\n" in cli("tools", "search", "say it again", "--input", takes).out
    for given, sentence in (
        ("foo", "--output is a JSON Schema, or one of string, number"),
        ("[1]", "--output is a JSON Schema, an object, or one of string"),
        ('{"type": "strin"}', """--output: this is not JSON Schema: "strin" is not"""),
    ):
        said = cli("tools", "search", "x", "--output", given)
        assert (said.code, sentence in said.err) == (2, True), said


def test_the_graph_is_drawn_told_and_written_for_graphviz(cli: Any, tmp_path: Path) -> None:
    whole, answers = {"type": "integer"}, {"description": "It."}
    order = {"type": "object", "properties": {"order_id": whole}, "required": ["order_id"]}
    made = {**answers, "content": {"application/json": {"schema": order}}}
    wanted = {"name": "order_id", "in": "path", "required": True, "schema": whole}
    paths = {
        "/orders": {"post": {"operationId": "make", "responses": {"200": made}}},
        "/orders/{order_id}": {
            "get": {"operationId": 'see "it"', "parameters": [wanted], "responses": {"200": answers}}
        },
    }
    document = {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": paths}
    (tmp_path / "shop.json").write_text(json.dumps(document))
    write(tmp_path, shop={"openapi": "shop.json", "base_url": "http://127.0.0.1:9"}, one=odd("plain"))
    assert cli("tools", "sync").code == 0
    names = [tool["tool_name"] for tool in cli("tools", "list", "--server", "shop", "--json").json["tools"]]
    [see] = [name for name in names if name != "shop/make"]
    said = cli("tools", "graph", see)
    assert said.out == f"  ┌─ shop/make  order_id → order_id  100%\n▶ {see}\n"
    assert cli("tools", "graph", "shop/make", "--json").json["after"][0]["to"] == see
    assert "none takes what it gives" in cli("tools", "graph", "one/echo").out
    said = cli("tools", "graph", "--server", "shop")
    assert (said.out.splitlines()[0], "1 service, 2 tools, 1 flow" in said.err) == ("▶ shop/make", True)
    assert f'"shop/make" -> "{see}" [label="order_id → order_id"];' in cli("tools", "graph", "--dot").out
    assert "2 services, " in cli("tools", "graph", "--server", "shop", "--server", "one").err
    said = cli("tools", "graph", "shop/mak")
    assert (said.code, "there is no tool 'shop/mak' (did you mean 'shop/make'?)" in said.err) == (1, True)
    said = cli("tools", "graph", "--server", "shoop")
    assert (said.code, "no server 'shoop' has a tool here (did you mean 'shop'?)" in said.err) == (1, True)
    for words, sentence in (
        (["shop/make", "--dot"], "a TOOL goes without --server and --dot"),
        (["--dot", "--json"], "--dot and --json are two forms of the same graph"),
    ):
        said = cli("tools", "graph", *words)
        assert (said.code, sentence in said.err + said.out) == (2, True), said


@pytest.mark.parametrize("order", [[], ["--desc"]])
def test_tools_of_servers_and_saved_plans_are_not_listed_behind_the_primitives(
    cli: Any, known: Path, order: list[str]
) -> None:
    """Whichever way names are sorted: what somebody added stands on the first page."""
    plan = known / "plan.json"
    plan.write_text(json.dumps({"goal": "says x", "steps": [{"type": "create-note", "value": "x", "out": "$x"}]}))
    write(known, zebra=odd("plain"))
    assert cli("tools", "sync").code == 0
    assert cli("plans", "save", "mine", str(plan)).code == 0
    listed = cli("tools", "list", "--page-size", "100", "--json", *order).json["tools"]
    ranks = [
        ("plan:" in one["name"]) + 2 * ("plan:" not in one["name"] and one["server"] == "infospace") for one in listed
    ]
    assert ranks == sorted(ranks)
    assert set(ranks) == {0, 1, 2}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["search", "x", "--limit", "51"], 2, "`limit` is 51, not a whole number from 1 to 50"),
        (["search", "x", "--mode", "exact"], 2, '`search_type` is "exact"'),
        (["search", " "], 2, "`query` is blank"),
        (["list", "--page", "0", "--page-size", "1000"], 2, "`page_size` is 1000"),
        (["list", "--name", "(?=x)"], 2, "`filters.name_pattern`"),
        (["list", "--min-score", "0.3"], 2, "unrecognized arguments: --min-score"),
        (["describe", "one/ecko"], 1, "did you mean 'one/echo'?"),
        (["similar", "tool_999"], 1, "there is no tool 'tool_999'"),
        (["call", "one/ecko"], 1, "did you mean 'one/echo'?"),
        (["call", "one/echo"], 1, '"text" is missing'),
        (["call", "one/echo", "{]"], 2, "what the tool is given"),
        (["call", "one/echo", "[1]"], 2, "not a JSON object"),
        (["call", "one/echo", "--input", "text"], 2, "--input name=value"),
        (["call", "one/echo", "--input", "text=x", "--timeout-ms", "0"], 2, "`options.timeout_ms` is 0"),
        (["call", "one/echo", "--input", "text=x", "--approve", "one"], 2, "names no tool that could be approved"),
        (["approvals", "--forget", "one/echo"], 1, "is not among the tools that may always be called"),
        (["audit", "--limit", "0"], 2, "--limit 0 is too low"),
        (["describ", "x"], 2, "tools has no action 'describ'; did you mean 'describe'?"),
    ],
)
def test_what_does_not_fit_is_one_sentence(cli: Any, known: Path, words: list[str], code: int, said: str) -> None:
    """On standard error; nothing is called."""
    told = cli("tools", *words)
    assert (told.code, told.out, told.err.count("\n")) == (code, "", 1)
    assert said in told.err
    with open_space(known / "space.db") as space, space.store.reading() as snapshot:
        assert snapshot.tool_uses() == []


def test_a_call_takes_its_arguments_in_each_way(cli: Any, known: Path) -> None:
    """As an object, from standard input, from a file, one by one; text where the schema takes text."""
    (known / "arguments.json").write_text('{"text": "from a file"}')
    for words, stdin, said in (
        (['{"text": "an object"}'], "", "an object"),
        (["-"], '{"text": "typed"}', "typed"),
        (["--input-file", "arguments.json"], "", "from a file"),
        (['{"text": "an object"}', "--input", "text=12"], "", "12"),
    ):
        told = cli("tools", "call", "one/echo", *words, stdin=stdin)
        assert (told.code, told.out) == (0, f"{said}\n")
        assert "Note_" in told.err
    document = cli("tools", "call", "one/echo", "--input", "text=x", "--json").json
    assert (document["content"], document["execution_metadata"]["server"]) == ([{"type": "text", "text": "x"}], "one")
    assert "execution_metadata" not in cli("tools", "call", "one/echo", '{"text": ""}', "--json", "--no-metadata").json
    long = cli("tools", "call", "one/echo", "--input", "text=" + "x" * 9_000)
    assert long.out == "x" * 9_000 + "\n"


def test_a_call_that_fails_or_waits_says_so_by_its_code(cli: Any, known: Path) -> None:
    """And by what it prints; approved, it is made."""
    failed = cli("tools", "call", "bad/echo", '{"text": "x"}', "--approve", "bad/*")
    assert failed.code == 0
    waits = cli("tools", "call", "one/fail")
    assert waits.code == 4
    assert "infospace answer run_2 1 once" in waits.err
    assert cli("tools", "call", "one/fail", "--json").json["status"] == "approval_required"
    failed = cli("tools", "call", "one/fail", "--approve", "one/fail")
    assert (failed.code, failed.out) == (1, "")
    assert "no such place" in failed.err
    rows = cli("tools", "audit", "--json").json["audit"]
    assert [(row["caller"], row["target"], row["outcome"]) for row in rows] == [
        *[("command", "one/fail", "failed"), ("command", "one/fail", "waiting"), ("command", "one/fail", "waiting")],
        ("command", "bad/echo", "success"),
    ]
    assert cli("tools", "audit", "--limit", "2", "--json").json["audit"] == rows[:2]
    assert "one/fail" in cli("tools", "audit").out


def test_what_is_always_called_is_listed_and_forgotten(cli: Any, known: Path) -> None:
    """What has changed since is said to be asked about again."""
    assert cli("tools", "call", "one/structured").code == 4
    assert cli("answer", "run_1", "1", "always").code == 0
    assert cli("tools", "call", "one/structured").code == 0
    [row] = cli("tools", "approvals", "--json").json["approvals"]
    assert (row["tool"], row["known"], row["changed"]) == ("one/structured", True, False)
    assert "one/structured" in cli("tools", "approvals").out
    assert "is asked about again" in cli("tools", "approvals", "--forget", "one/*").out
    assert cli("tools", "approvals", "--json").json == {"approvals": [], "forgotten": []}
    assert cli("tools", "call", "one/structured").code == 4


def test_of_what_is_always_called_it_is_told_what_has_changed_or_gone(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"hall": {"command": "hall"}}}')
    with open_space(tmp_path / "space.db") as space:
        space.store.commit([SaveTools("hall", [ListedTool("greet"), ListedTool("wave")])])
    with open_space(tmp_path / "space.db") as space:
        greet = space.tools.find("hall/greet")
        assert greet is not None
        digests = {"hall/gone": None, "hall/greet": greet.digest, "hall/wave": bytes(32)}
        space.store.commit([], [Approve(tool, digest, "2026-04-01T09:30:00.000Z") for tool, digest in digests.items()])
    rows = cli("tools", "approvals", "--json").json["approvals"]
    assert [(row["tool"], row["known"], row["changed"]) for row in rows] == [
        ("hall/gone", False, False),
        ("hall/greet", True, False),
        ("hall/wave", True, True),
    ]
    assert [line.split("2026-04-01 09:30")[1] for line in cli("tools", "approvals").out.splitlines()] == [
        "  is not there now",
        "",
        "  has changed since, and is asked about again",
    ]


def test_on_a_terminal_the_person_is_asked(tmp_path: Path) -> None:
    """An empty line leaves it open, an answer goes on; without a terminal nobody is waited for."""
    assert command(tmp_path, "notes").returncode == 0
    words = ("tools", "call", "files/delete", "--input", "path=a")
    assert command(tmp_path, *words).returncode == 4
    assert calls(tmp_path) == []
    with terminal(tmp_path, *words) as person:
        person.until("> ")
        assert "call the tool delete of the server files" in person.seen
        person.types("perhaps")
        person.until("> ", 2)
        person.types("once")
        person.until("deleted a")
        assert person.ended() == 0
    assert calls(tmp_path) == ["a"]
    with terminal(tmp_path, *words) as person:
        person.until("> ")
        person.types("no")
        assert person.ended() == 1
        assert "somebody said no" in person.seen
    assert calls(tmp_path) == ["a"]


def test_a_name_that_no_tool_has_is_told_to_a_person(cli: Any, known: Path) -> None:
    """Beside what was found, with what was probably meant; as JSON under `unknown`."""
    del known
    message = "no tool here is of a server 'ona'; did you mean 'one'?"
    for words in (["list", "--server", "ona"], ["search", "a text", "--server", "ona"]):
        assert message in cli("tools", *words).err
        assert json.loads(cli("tools", *words, "--json").out)["unknown"] == [message]


def test_a_call_lasts_as_its_servers_entry_says(cli: Any, tmp_path: Path) -> None:
    """Unless --timeout-ms does."""
    write(tmp_path, one=odd("plain", trusted=True, timeout_s=0.4))
    assert cli("tools", "sync").code == 0
    late = cli("tools", "call", "one/slow")
    assert (late.code, "did not answer within 0.4 s" in late.err) == (1, True)
    assert cli("tools", "call", "one/slow", "--timeout-ms", "20000").code == 0


@pytest.mark.parametrize(
    ("annotations", "approval", "blocked", "said"),
    [
        (None, True, False, "does not say whether it changes anything; it needs approval before each call"),
        ({"read_only": True, "idempotent": True}, False, False, "read only, idempotent; it needs no approval"),
        ({"read_only": False, "destructive": False}, True, True, "adds, and removes nothing; it is blocked"),
    ],
)
def test_what_a_tool_changes_and_whether_it_is_asked_about_is_a_line(
    annotations: dict[str, bool] | None, approval: bool, blocked: bool, said: str
) -> None:
    assert _about({"annotations": annotations, "needs_approval": approval, "blocked": blocked}) == said


def test_how_calls_of_a_tool_went_is_a_line() -> None:
    measured = {"execution_count": 1_200, "success_rate": 0.956, "mean_ms": 1_234.5, "p95_ms": 2_000.4}
    assert _measured(measured) == "called 1,200 times, 96% well; 1,234 ms on average, 95 of 100 within 2,000 ms"
    assert _measured(measured | {"execution_count": 1}).startswith("called 1 time, ")
    assert _measured({"execution_count": 0}) == "never called"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "a/b                                   What it does."),
        ({"title": "Its title"}, "a/b                                   Its title"),
        ({"kind": "prompt", "connected": False}, "a/b (prompt, not connected)           What it does."),
        ({"connected": False}, "a/b (not connected)                   What it does."),
    ],
    ids=str,
)
def test_a_tool_is_a_line_that_says_what_it_is_and_whether_it_can_be_reached(fields: dict[str, Any], said: str) -> None:
    tool = {"kind": "tool", "connected": True, "tool_name": "a/b", "title": "", "description": "What it does."}
    assert line(tool | fields) == said
    assert line(tool | fields, "0.5  ") == f"0.5  {said}"
