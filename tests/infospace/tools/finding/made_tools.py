"""Tools to be found in tests: three servers of plausible ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infospace.core.tool import Tool


def takes(**parameters: str) -> dict[str, Any]:
    """Return a schema of text parameters with their descriptions."""
    properties = {name: {"type": "string", "description": said} for name, said in parameters.items()}
    return {"type": "object", "properties": properties}


SERVERS: dict[str, tuple[str, list[tuple[str, str, dict[str, Any]]]]] = {
    "filesystem": (
        "Read, write, and search local files and directories",
        [
            ("read_file", "Read the contents of a file as text.", takes(path="Where the file is")),
            ("write_file", "Create a file, or overwrite it.", takes(path="Where", content="What to write")),
            ("list_directory", "List the files and folders in a directory.", takes(path="Which directory")),
            ("delete_directory", "Delete a directory and all that is in it.", takes(path="Which directory")),
            ("search_files", "Find files whose name matches a pattern.", takes(pattern="A glob pattern")),
        ],
    ),
    "github": (
        "GitHub repos, issues, pull requests, code search",
        [
            (
                "create_pull_request",
                "Open a pull request in a repository.",
                takes(head="The branch", base="Into which"),
            ),
            ("list_pull_requests", "List the pull requests of a repository.", takes(repo="owner/name")),
            ("create_issue", "Open an issue in a repository.", takes(title="Its title", body="Its text")),
            ("search_code", "Search the code of repositories.", takes(query="What to look for")),
            ("push_files", "Commit files to a branch and push them.", takes(branch="The branch")),
        ],
    ),
    "brew": (
        "Install, update, and manage macOS packages via Homebrew",
        [
            ("install_package", "Install a package with Homebrew.", takes(name="The package or cask")),
            ("upgrade_packages", "Upgrade installed packages to their newest version.", takes(name="The package")),
            ("uninstall_package", "Remove a package.", takes(name="The package")),
        ],
    ),
}


def made_tools(**changes: Any) -> list[Tool]:
    """Return the tools of all three servers, with `changes` to each."""
    return [
        Tool(server, name, said, schema, server_description=about, integration="MCP", **changes)
        for server, (about, tools) in SERVERS.items()
        for name, said, schema in tools
    ]


def named(tools: Sequence[Tool], full_name: str) -> Tool:
    """Return the tool of a full name."""
    return next(tool for tool in tools if tool.full_name == full_name)
