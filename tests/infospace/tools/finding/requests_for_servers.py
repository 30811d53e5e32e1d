"""Requests and the servers that they need, each with paraphrases: written before what has to tell them."""

from __future__ import annotations

from typing import Any

SERVERS: list[dict[str, Any]] = [
    {
        "name": "filesystem",
        "description": "Read, write, and search local files and directories",
        "tools": [
            ("read_file", "Read the complete contents of a file from the file system"),
            ("write_file", "Create a new file or overwrite an existing file with new content"),
            ("edit_file", "Make line-based edits to a text file"),
            ("create_directory", "Create a new directory or ensure that it exists"),
            ("list_directory", "Get a listing of all files and directories in a path"),
            ("directory_tree", "Get a recursive tree view of files and directories"),
            ("move_file", "Move or rename files and directories"),
            ("delete_path", "Delete a file or a directory"),
            ("search_files", "Search for files and directories whose names match a pattern"),
            ("get_file_info", "Get size, times and permissions of a file or directory"),
        ],
    },
    {
        "name": "github",
        "description": "GitHub repos, issues, pull requests, code search",
        "tools": [
            ("create_pull_request", "Create a new pull request in a repository"),
            ("list_pull_requests", "List the pull requests of a repository"),
            ("merge_pull_request", "Merge a pull request"),
            ("create_issue", "Create a new issue in a repository"),
            ("list_issues", "List the issues of a repository"),
            ("create_branch", "Create a new branch in a repository"),
            ("list_commits", "List the commits of a branch"),
            ("push_files", "Commit and push several files to a branch"),
            ("fork_repository", "Fork a repository"),
            ("search_code", "Search for code across repositories"),
        ],
    },
    {
        "name": "brew",
        "description": "Install, update, and manage macOS packages via Homebrew",
        "tools": [
            ("brew_install", "Install a package"),
            ("brew_uninstall", "Uninstall a package"),
            ("brew_upgrade", "Upgrade installed packages to their latest version"),
            ("brew_search", "Search for packages by name"),
            ("brew_list", "List the installed packages"),
            ("brew_info", "Show the version and dependencies of a package"),
        ],
    },
]
"""The three servers of the cases, with the tools that such servers list."""

CASES: dict[tuple[str, ...], tuple[str, ...]] = {
    (
        "install imagemagick",
        "please install imagemagick for me",
        "install the imagemagick package",
        "I need imagemagick installed on my mac",
        "can you get imagemagick installed?",
        "upgrade imagemagick to the latest version",
    ): ("brew",),
    (
        "install imagemagick via homebrew",
        "use homebrew to install imagemagick",
        "brew install imagemagick",
        "get imagemagick with brew",
        "add imagemagick through Homebrew, please",
        "homebrew: install imagemagick",
    ): ("brew",),
    (
        "list open pull requests",
        "show me the open pull requests",
        "which pull requests are open?",
        "what pull requests are waiting for review",
        "list the open PRs",
        "give me all pull requests that are still open",
    ): ("github",),
    (
        "list open pull requests on my repo",
        "show open PRs in my repo",
        "which pull requests are open on our repository?",
        "are there any open pull requests in my repository",
        "list the PRs on my repo",
        "what is open for review on my repo, as pull requests",
    ): ("github",),
    (
        "commit and push my branch",
        "push my branch",
        "commit my changes and push them",
        "push the commits on this branch",
        "commit this and push it to the branch",
        "please commit, then push my branch",
    ): ("github",),
    (
        "open a PR",
        "open a pull request",
        "create a PR for this branch",
        "make a pull request from my branch",
        "please open a new PR",
        "submit a pull request",
    ): ("github",),
    (
        "read config file",
        "read the config file",
        "open the configuration file and read it",
        "show me what is in the config file",
        "print the contents of the config file",
        "what does the config file say?",
    ): ("filesystem",),
    (
        "read my config file",
        "please read my config file",
        "look into my config file",
        "show my configuration file",
        "read through the config file of mine",
        "read my cfg file",
    ): ("filesystem",),
    (
        "show me the folder contents",
        "list what is in the folder",
        "what files are in this directory?",
        "show the contents of this folder",
        "list the files in the dir",
        "what is inside the folder",
    ): ("filesystem",),
    (
        "delete a directory, then search code",
        "remove a directory and then search the code",
        "delete the folder; after that search for code",
        "first delete a directory, then do a code search",
        "delete a dir, then search the code in my repos",
        "erase the directory. Then search code on GitHub",
    ): ("filesystem", "github"),
    (
        "hello, how are you?",
        "hi there",
        "good morning!",
        "hey, how is it going",
        "thanks, that was very helpful",
        "nice to meet you",
    ): (),
    (
        "what is the weather today",
        "will it rain tomorrow?",
        "how warm is it in Paris",
        "is it going to be sunny this weekend",
        "weather forecast for Berlin",
        "tell me today's temperature",
    ): (),
}
"""What is asked, the case itself first, and the servers that it needs."""
