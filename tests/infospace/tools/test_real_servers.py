"""Servers that others made, and infospace itself as one: listed and called in real plans."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import run_sync

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "planner" / "serve"))
from served import left, synced, write
from serving import TOKEN, over_http

SCRIPTS = Path(sys.executable).parent


def contents(space: Space, *steps: dict[str, Any]) -> dict[str, Any]:
    """Run steps, each of which binds a variable; return the contents of all."""
    result = run_sync(space, list(steps))
    assert result.status == "success", (result.reason, result.problems)
    view = space.context()
    return {name: view.content(view.get(bound.id)) for name, bound in result.bindings.items()}


@pytest.mark.slow
def test_servers_from_the_python_package_index(space: Space, tmp_path: Path) -> None:
    """Time and git, of the later protocol."""
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", "--initial-branch=trunk", str(repository)], check=True)
    (repository / "new.txt").write_text("new")
    path = write(
        tmp_path,
        time={"command": str(SCRIPTS / "mcp-server-time"), "args": ["--local-timezone", "UTC"]},
        git={"command": str(SCRIPTS / "mcp-server-git")},
    )
    assert synced(space, mcp=path).failed == []
    found = contents(
        space,
        {
            "type": "time/convert_time",
            "arguments": {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
            "out": "$tokyo",
        },
        {"type": "git/git_status", "arguments": {"repo_path": str(repository)}, "out": "$status"},
    )
    assert "T21:00:00+09:00" in str(found["tokyo"])
    assert "new.txt" in str(found["status"])
    refused = run_sync(space, [{"type": "git/git_status", "arguments": {"repo": "x"}}])
    assert [(problem.code, problem.hint) for problem in refused.problems] == [
        ("missing-argument", "is 'repo' meant for it?")
    ]


@pytest.mark.slow
def test_servers_from_npm(space: Space, tmp_path: Path, node: Path) -> None:
    """Everything, filesystem and memory, of the earlier protocol: side by side in one plan."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "a.txt").write_text("the text of a")
    ours = {"SERVER_OF": f"mark-{tmp_path}"}
    path = write(
        tmp_path,
        everything={"command": str(node / "mcp-server-everything"), "env": ours},
        files={"command": str(node / "mcp-server-filesystem"), "args": [str(home)], "env": ours},
        memory={
            "command": str(node / "mcp-server-memory"),
            "env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.json"), **ours},
            "autoApprove": ["create_entities"],
        },
    )
    done = synced(space, mcp=path)
    assert done.failed == []
    kinds = {tool.kind for tool in space.tools.everything() if tool.server == "everything"}
    assert kinds == {"tool", "prompt", "resource"}
    entity = {"name": "Ada", "entityType": "person", "observations": ["likes tables"]}
    found = contents(
        space,
        {"type": "everything/get-sum", "arguments": {"a": 2, "b": 3}, "out": "$sum"},
        {"type": "everything/get-tiny-image", "out": "$picture"},
        {"type": "everything/get-structured-content", "arguments": {"location": "New York"}, "out": "$weather"},
        {"type": "get-prompt", "prompt": "everything/simple-prompt", "out": "$prompt"},
        {
            "type": "read-resource",
            "resource": "everything/demo://resource/static/document/features.md",
            "out": "$document",
        },
        {"type": "files/read_text_file", "arguments": {"path": str(home / "a.txt")}, "out": "$file"},
        {"type": "memory/create_entities", "arguments": {"entities": [entity]}, "out": "$made"},
        {"type": "memory/search_nodes", "arguments": {"query": "tables"}, "out": "$nodes"},
    )
    assert "5" in found["sum"]
    assert "image" in [block["type"] for block in found["picture"]]
    assert set(found["weather"]) >= {"temperature", "conditions"}
    assert "prompt" in found["prompt"]
    assert found["document"].startswith("#")
    assert found["file"] == {"content": "the text of a"}
    assert found["nodes"]["entities"][0]["name"] == "Ada"
    assert len([line for line in left(ours["SERVER_OF"]) if str(node) in line]) >= 3
    space.close()
    assert left(ours["SERVER_OF"]) == []


@pytest.mark.slow
def test_infospace_is_a_server_of_itself(space: Space, tmp_path: Path) -> None:
    """As a process and over HTTP, where it wants its token in a header; a plan runs a plan."""
    inner, other = tmp_path / "inner.db", tmp_path / "other.db"
    with over_http(other) as served:
        path = write(
            tmp_path,
            inner={
                "command": sys.executable,
                "args": ["-m", "tui.command", "--space", str(inner), "serve", "--tools", "full"],
                "autoApprove": True,
            },
            other={"url": served.url, "headers": {"Authorization": f"Bearer {TOKEN}"}, "autoApprove": ["run_plan"]},
            locked={"url": served.url},
        )
        done = synced(space, mcp=path)
        assert (done.listed, [one.server for one in done.failed]) == (["inner", "other"], ["locked"])
        assert "asks for a sign-in" in done.failed[0].reason
        plan = [{"type": "create-note", "value": "made inside", "name": "inside"}]
        found = contents(
            space,
            {"type": "inner/run_plan", "arguments": {"plan": plan}, "out": "$one"},
            {"type": "other/run_plan", "arguments": {"plan": plan}, "out": "$two"},
            {"type": "get-prompt", "prompt": "inner/plan", "arguments": {"goal": "tea"}, "out": "$prompt"},
            {"type": "read-resource", "resource": "inner/infospace://note/inside", "out": "$note"},
        )
        space.close()
    assert found["one"]["status"] == found["two"]["status"] == "success"
    assert "tea" in str(found["prompt"])
    assert "made inside" in str(found["note"])
    assert left(str(inner)) == []
