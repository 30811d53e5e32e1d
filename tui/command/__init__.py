"""The `infospace` command. Each subcommand is a module of its own, loaded only when it is called."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from collections.abc import Sequence
from errno import EDQUOT, EFBIG, ENOSPC
from types import ModuleType
from typing import NoReturn

from infospace.core.errors import InfospaceError, Invalid

COMMANDS = {
    "add": "bring files and folders in as notes",
    "search": "find notes by what they are about",
    "query": "ask the notes one SELECT: a table, CSV or JSON",
    "notes": "list the notes",
    "show": "show a note, a collection or a run",
    "edit": "change a note; the earlier version stays",
    "rm": "delete notes",
    "undo": "undo a run: an import, an edit, a plan",
    "export": "write all notes out as files, or edits back to theirs",
    "prune": "remove deleted notes, old versions or runs for good",
    "primitives": "the vocabulary: what a plan can do",
    "plan": "let a language model write a plan for a goal, and show it",
    "do": "let a language model write a plan for a goal, and run it",
    "check": "list everything that is wrong with a plan, without running it",
    "run": "check a plan and run it",
    "runs": "list the runs",
    "work": "run what waits: `run --detach`, and runs whose time has come",
    "schedule": "run saved plans at times: add, list, pause, resume, rm",
    "diff": "compare two runs, step by step",
    "why": "show the run, step and inputs that made something",
    "stale": "list kept results whose inputs have changed since",
    "resume": "resume a suspended or interrupted run",
    "cancel": "end a suspended or interrupted run for good",
    "replay": "run a run again from its record, and show what differs",
    "fork": "run a plan again from one of its steps on, with a change",
    "answer": "answer what a suspended run asks, and resume it",
    "plans": "keep plans in the space by name: save, list, show, rm",
    "tools": "tools of servers: sync, find, describe and call them",
    "model": "the embedding model: which, from where, verified or not",
    "copy": "copy a space: file to database, back, or to another place",
    "members": "who may read and write a space in a database: list, add, remove",
    "doctor": "check this installation, and say how to fix it",
    "tui": "open the space on a screen: runs, plans, notes, tools",
    "eval": "measure how well the configured model plans",
    "serve": "serve the space to planner models over MCP",
    "demo": "see it work on sample notes",
    "help": "read the documentation: pages, commands, problem codes",
    "completion": "print a completion script for your shell",
}

ROOMS = {
    "notes": ("add", "edit", "export", "notes", "prune", "query", "rm", "search", "show", "stale", "why"),
    "runs": (
        *("answer", "cancel", "check", "diff", "do", "fork", "plan", "plans", "replay", "resume", "run", "runs"),
        *("schedule", "undo", "work"),
    ),
    "system": (
        "completion",
        "copy",
        "demo",
        "doctor",
        "eval",
        "help",
        "members",
        "model",
        "primitives",
        "serve",
        "tui",
    ),
}
"""The folder of each command's module; `tools` is a folder of its own."""
_MODULES = {name: f"tui.command.{room}.{name}" for room, names in ROOMS.items() for name in names}

_OF_LINKS = (
    '`infospace query "SELECT source, target_text, target FROM links"` lists links, '
    "`infospace show NOTE` those of one note"
)
_OF_TASKS = (
    """`infospace query "SELECT note, line, text, due FROM items WHERE kind = 'task' AND NOT done"` lists open tasks"""
)
_OF_PROPERTIES = (
    "`infospace notes --properties` lists the properties that notes have, "
    "`infospace notes --tag TAG` the notes of a tag"
)
ELSEWHERE = {
    **dict.fromkeys(("link", "links", "backlinks"), _OF_LINKS),
    **dict.fromkeys(("items", "task", "tasks", "todo", "todos"), _OF_TASKS),
    **dict.fromkeys(("properties", "tag", "tags"), _OF_PROPERTIES),
}
"""What is no command, and how one gets it."""

EXAMPLES = """examples:
  infospace demo
  infospace add ~/notes
  infospace search 'why the re-ranker did not ship'
  infospace run plan.json
  infospace help getting-started"""

USAGE, FAILED, REFUSED, CANCELLED = 2, 1, 3, 130
"""Exit codes besides 0 and 4, `suspended`."""

_FULL = (ENOSPC, EDQUOT, EFBIG)
"""Why what is printed, or a file, takes no more."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence, with the way to the help."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError, which says what is wrong with the command line."""
        from tui.text.output import UsageError

        unknown = re.match(r"argument COMMAND: invalid choice: '(.*?)'", message)
        if unknown:
            from difflib import get_close_matches

            near = get_close_matches(unknown[1], COMMANDS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            if unknown[1] in ELSEWHERE:
                hint = f": {ELSEWHERE[unknown[1]]}"
            message = f"there is no command {unknown[1]!r}{hint}"
        action = re.match(r"argument (?:ACTION|\w[\w|-]+): invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if action:
            from difflib import get_close_matches

            actions = re.findall(r"[\w-]+", action[2])
            near = get_close_matches(action[1], actions, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(actions)}"
            message = f"{self.prog.partition(' ')[2]} has no action {action[1]!r}; {hint}"
        for expected, noun in (("int", "a whole number"), ("float", "a number")):
            message = re.sub(rf"^argument (\S+): invalid {expected} value: (.*)$", rf"\1 is \2, not {noun}", message)
        raise UsageError(message, hint=f"`{self.prog} --help` shows examples")


def build_parser(argv: Sequence[str]) -> Parser:
    """Return the parser; only the subcommands that `argv` may mean are filled in."""
    parser = Parser(
        prog="infospace",
        description="Plans as JSON, checked whole, run over notes and tools, open to inspection.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    shared(parser, default=None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, summary in COMMANDS.items():
        given = name in argv
        module = _module(name) if given else None
        sub = commands.add_parser(
            name,
            help=summary,
            description=(module.__doc__ or "").strip() if module else None,
            epilog=getattr(module, "EXAMPLES", None),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=given,
        )
        if module is not None:
            shared(sub, default=argparse.SUPPRESS)
            module.configure(sub)
    return parser


def shared(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Declare what every command takes."""
    parser.add_argument(
        "--space",
        metavar="FILE",
        default=default,
        help="the space (default: INFOSPACE_SPACE, else one in your data folder)",
    )
    off = False if default is None else default
    parser.add_argument("--json", action="store_true", default=off, help="one JSON document on standard output")
    parser.add_argument("-v", "--verbose", action="store_true", default=off, help="log to standard error")


def complete_actions(actions: argparse._SubParsersAction[argparse.ArgumentParser], command: str, examples: str) -> None:
    """Declare of each action what every command takes, and give its help those examples of the command that call it."""
    for action, parsed in actions.choices.items():
        shared(parsed, default=argparse.SUPPRESS)
        called = [line for line in examples.splitlines() if line.startswith(f"  {command} {action}")]
        parsed.epilog = "\n".join(["examples:", *(called or [f"  {command} {action}"])])
        parsed.formatter_class = argparse.RawDescriptionHelpFormatter


def _module(name: str) -> ModuleType:
    return importlib.import_module(_MODULES.get(name, f"tui.command.{name}"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    try:
        return _main(argv)
    except KeyboardInterrupt:
        sys.stderr.write("infospace: interrupted before it began\n")
        return CANCELLED


def _joined(argv: list[str]) -> list[str]:
    """Write `notes --sort -modified` as one argument: a word of its own that begins with `-` would be an option."""
    at = argv.index("--sort") + 1 if "notes" in argv and "--sort" in argv else len(argv)
    if at < len(argv) and re.fullmatch(r"-[^-].+", argv[at]):
        return [*argv[: at - 1], f"--sort={argv[at]}", *argv[at + 1 :]]
    return argv


def _main(argv: Sequence[str] | None) -> int:
    arguments = _joined(sys.argv[1:] if argv is None else list(argv))
    parser = build_parser(arguments)
    try:
        args = _parsed(parser, arguments)
    except InfospaceError as error:
        from tui.text.output import Output

        Output(json="--json" in arguments).error(error)
        return USAGE
    if args.version:
        from importlib.metadata import version

        print(f"infospace {version('infospace')}")  # noqa: T201 - the answer to `--version`
        return 0
    if args.command is None:
        parser.print_help()
        return USAGE
    return _execute(args)


def _parsed(parser: Parser, arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of the command line. Raises UsageError."""
    args, unknown = parser.parse_known_args(arguments)
    if unknown:
        from tui.text.output import UsageError

        prog = f"{parser.prog} {args.command}" if args.command else parser.prog
        text = " ".join(map(str, unknown))
        goal = getattr(args, "goal", None)
        if args.command in ("plan", "do") and goal and not any(str(word).startswith("-") for word in unknown):
            import shlex

            quoted = shlex.quote(f"{goal} {text}")
            raise UsageError(f"a goal of several words stands in quotes: {prog} {quoted}")
        raise UsageError(f"unrecognized arguments: {text}", hint=f"`{prog} --help` shows examples")
    return args


def _begin_log(args: argparse.Namespace) -> None:
    """Have it written down what happens, where somebody wants that."""
    question = os.environ.get("INFOSPACE_LOG")
    if not args.verbose and not question:
        return
    from infospace.core.logs import write_log
    from tui.text.output import UsageError

    try:
        write_log(verbose=args.verbose, question=question, screen=args.command == "tui")
    except Invalid as error:
        raise UsageError(error.message, hint=error.hint) from error


def _abandon_output() -> None:
    """Let what was not written yet go nowhere, so that the end of the process does not try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _execute(args: argparse.Namespace) -> int:
    from tui.text.output import Output, UsageError

    out = Output(json=args.json, space=args.space)
    try:
        _begin_log(args)
        code: int = _module(args.command).execute(args, out)
        sys.stdout.flush()
    except InfospaceError as error:
        out.error(error)
        return USAGE if isinstance(error, UsageError) else FAILED
    except KeyboardInterrupt:
        out.talk("cancelled")
        return CANCELLED
    except BrokenPipeError:
        _abandon_output()
        return FAILED
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            _abandon_output()
            sys.stderr.write(f"infospace: the output cannot be written: {error.strerror}\n")
            return FAILED
        if os.environ.get("INFOSPACE_DEBUG"):
            raise
        message = f"infospace has a bug ({type(error).__name__}: {error})"
        out.error(InfospaceError(message, hint="INFOSPACE_DEBUG=1 shows where"))
        return FAILED
    return code
