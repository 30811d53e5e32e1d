"""The documentation as Markdown pages: read by `infospace help`, under `?` on the screen, and in the repository."""

from __future__ import annotations

import re
from importlib.resources import files

PAGES = {
    "getting-started": "from an empty folder to a plan that has run, in ten minutes",
    "language": "what a plan is: steps, variables, conditions, control forms, failures",
    "vocabulary": "every primitive in one line",
    "goals": "say what you want in words; a language model writes the plan",
    "searching": "find notes by meaning or words, and read the certificate",
    "files": "import files as notes, change them, export them",
    "using-tools": "call tools of MCP servers, and decide which calls are asked about",
    "agents": "serve a space to language models; tokens and their scopes",
    "sessions": "runs that are written one call at a time",
    "python": "use a space, sessions and plans from Python",
    "writing-a-primitive": "add a step type of your own",
    "problems": "every code that the check gives: its cause, and how to fix it",
    "team": "keep a space in PostgreSQL, for several machines",
    "every-night": "run plans at times: schedules, or cron; exit codes, JSON, logs",
    "glossary": "what the words mean",
    "architecture": "the packages, and what happens in a run",
    "journal-order": "decision: steps are recorded in document order",
    "parallel-is-serial": "decision: steps that run side by side give what they give in order",
    "streaming": "decision: a plan starts while it is still being written",
    "undoing": "decision: undo goes by versions, and refuses to guess",
    "contributing": "set up the project, test it, change it",
}
"""The pages by topic, in the order in which they are listed, with a line each."""

SEE = {
    "add": "files",
    "export": "files",
    "edit": "files",
    "search": "searching",
    "check": "problems",
    "run": "language",
    "plans": "language",
    "plan": "goals",
    "do": "goals",
    "eval": "goals",
    "primitives": "vocabulary",
    "tools": "using-tools",
    "serve": "agents",
    "schedule": "every-night",
    "work": "team",
    "copy": "team",
    "members": "team",
    "undo": "undoing",
    "demo": "getting-started",
}
"""The page that says more about a command."""


def page(topic: str) -> str:
    """Return a page as Markdown."""
    return files(__name__).joinpath(f"{topic}.md").read_text(encoding="utf-8")


def codes() -> list[str]:
    """Return the codes of problems that have a section, in the order of the page."""
    return re.findall(r"^### ([a-z-]+)$", page("problems"), re.MULTILINE)


def section(code: str) -> str:
    """Return the section about a problem's code as Markdown."""
    rest = page("problems").partition(f"\n### {code}\n")[2]
    return f"### {code}\n{re.split(r'^##', rest, maxsplit=1, flags=re.MULTILINE)[0].rstrip()}\n"
