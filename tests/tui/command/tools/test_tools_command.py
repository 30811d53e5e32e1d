"""`infospace tools`: sync what servers list, and say how they stand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "infospace" / "tools"))
from served import odd, write


def test_sync_reports_what_came_and_what_failed(cli: Any, tmp_path: Path) -> None:
    """With code 0, since the file could be read; again it has nothing to do but to try what failed."""
    write(tmp_path, a=odd("plain"), b=odd("dies"), c={"comand": "x"})
    said = cli("tools", "sync", "--json")
    assert said.code == 0
    document = said.json
    assert document["listed"] == ["a"]
    assert "a/echo" in document["added"]
    assert [(one["server"], bool(one["reason"])) for one in document["failed"]] == [("b", True), ("c", True)]
    assert document["failed"][0]["stderr"].endswith("cannot find its configuration")
    assert document["warnings"][0]["hint"] == "did you mean 'command'?"
    assert document["files"] == [str(tmp_path / "mcp.json")]
    said = cli("tools", "sync")
    assert said.code == 0
    assert "· a  as it was" in said.out
    assert "✗ b  the server 'b' ended with code 3 at its start" in said.out
    assert "c: 'comand' is not a key of an entry, and is passed over (did you mean 'command'?)" in said.err


def test_a_file_is_named_and_forgotten(cli: Any, tmp_path: Path) -> None:
    """A path is seen from here; what cannot be read is wrong usage."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    path = write(folder, a=odd("plain"))
    assert cli("tools", "sync", "--mcp", "elsewhere/mcp.json", "--json").json["files"] == [str(path)]
    assert cli("tools", "sync", "--json").json["unchanged"] == ["a"]
    assert cli("tools", "sync", "--restart", "--json").json["listed"] == ["a"]
    (folder / "mcp.json").write_text("{]")
    said = cli("tools", "sync")
    assert said.code == 2
    assert f"✗ {path}" in said.out
    said = cli("tools", "sync", "--mcp", "nowhere.json")
    assert (said.code, said.out) == (2, "")
    assert f"there is no file '{tmp_path / 'nowhere.json'}'" in said.err
    said = cli("tools", "sync", "--forget", "nowhere.json")
    assert (said.code, "does not remember" in said.err) == (2, True)
    write(folder, a=odd("plain"))
    assert "a/echo" in cli("tools", "sync", "--forget", "elsewhere/mcp.json", "--json").json["removed"]
    said = cli("tools", "sync")
    assert (said.code, "there is no `mcp.json` beside the space" in said.err) == (0, True)


def test_servers_are_told_without_what_is_secret(cli: Any, tmp_path: Path) -> None:
    """Neither who logs in, nor a query's value, nor what stands behind an option for a key."""
    a = {"url": "https://me:hunter2@host.example/mcp?key=hunter2&page=hunter2", "disabled": True}
    b = {"command": "serve", "args": ["--api-key", "hunter2", "TOKEN=hunter2", "--port", "80"], "disabled": True}
    write(tmp_path, a=a, b=b, c={"url": "ftp://me:hunter2@host"}, d={"command": "x", "args": "--token hunter2"})
    synced = [cli("tools", "sync", "--json").out, cli("tools", "sync").out]
    said = cli("tools", "servers", "--json")
    shown = {one["server"]: one for one in said.json["servers"]}
    assert shown["a"]["url"] == "https://•••@host.example/mcp?key=•••&page=•••"
    assert shown["b"]["command"] == ["serve", "--api-key", "•••", "TOKEN=•••", "--port", "80"]
    said_all = [*synced, said.out, cli("tools", "servers").out]
    assert ["hunter2" in one for one in said_all] == [False] * 4
    assert "is not a URL" in synced[0]


def test_a_refused_tool_is_named_beside_its_server(cli: Any, tmp_path: Path) -> None:
    """By the sync and afterwards."""
    write(tmp_path, a=odd("bad"))
    for command in ("sync", "servers"):
        assert "the tool 'a list' is refused: " in cli("tools", command).out


def test_servers_say_how_they_stand(cli: Any, tmp_path: Path) -> None:
    """For a person and as JSON; the entry as it is written, without env."""
    write(
        tmp_path,
        a=odd("plain", env={"KEY": "hush-hush"}, description="Says texts again."),
        b=odd("dies"),
        c={"command": "x", "disabled": True},
    )
    assert {one["server"]: one["state"] for one in cli("tools", "servers", "--json").json["servers"]} == {}
    cli("notes")
    cli("tools", "sync")
    document = cli("tools", "servers", "--json").json
    a, b, c = document["servers"]
    assert (a["state"], a["tools"], a["prompts"], a["resources"], a["title"]) == ("listed", 11, 1, 2, "The odd server")
    assert (b["state"], b["listed"]) == ("failed", None)
    assert b["stderr"].startswith("first line")
    assert c["state"] == "disabled"
    assert "hush" not in json.dumps(document)
    said = cli("tools", "servers")
    assert said.code == 0
    assert "Says texts again." in said.out
    assert "    | cannot find its configuration" in said.out


@pytest.mark.parametrize("words", [["tools"], ["tools", "snyc"]])
def test_another_word_is_wrong_usage(cli: Any, words: list[str]) -> None:
    said = cli(*words)
    assert (said.code, said.out) == (2, "")
    assert "sync" in said.err


def test_a_plan_is_checked_against_the_tools_and_starts_nothing(cli: Any, tmp_path: Path) -> None:
    """In a process that loads no client of servers for it."""
    write(tmp_path, a=odd("plain"))
    cli("tools", "sync")
    (tmp_path / "plan.json").write_text(json.dumps([{"type": "a/ecko", "arguments": {"text": "x"}}]))
    said = cli("check", "plan.json", "--json")
    assert said.code == 3
    assert said.json["problems"][0]["hint"] == "did you mean 'a/echo'?"
    code = (
        "import sys\nfrom tui.command import main\n"
        "main(['check', 'plan.json'])\nmain(['tools', 'servers'])\n"
        "sys.exit('mcp' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False).returncode == 0


def test_a_search_says_what_scores_are_made_of_where_it_is_asked(cli: Any) -> None:
    """A line for each part of the request; as JSON with each tool."""
    cli("notes")
    shown = cli("tools", "search", "rows of a table", "--explain", "--limit", "2")
    assert shown.code == 0
    assert "evidence 0." in shown.out
    assert "row 0.0" in shown.out
    assert "(description)" in shown.out
    assert "evidence" not in cli("tools", "search", "rows of a table", "--limit", "2").out
    told = cli("tools", "search", "rows of a table", "--explain", "--limit", "1", "--json").json["tools"]
    assert [part["part"] for part in told[0]["explanation"]] == ["rows of a table"]
    two = cli("tools", "search", "Read the rows of a table. Then make a note of them.", "--explain", "--limit", "1")
    assert "“Then make a note of them.”: evidence" in two.out
    refused = cli("tools", "search", "--explain", "--server", "infospace")
    assert (refused.code, refused.out) == (2, "")
    assert "--explain needs a query" in refused.err
