"""Print the completion of this command for a shell.

Load it where the shell starts: bash and zsh evaluate it, fish reads it from its folder of completions.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tui.command import COMMANDS, build_parser
from tui.help import PAGES
from tui.text.output import Output

EXAMPLES = """examples:
  eval "$(infospace completion bash)"
  eval "$(infospace completion zsh)"
  infospace completion fish > ~/.config/fish/completions/infospace.fish"""

FILES = ("FILE", "PATH", "PLAN", "SRC", "DST")
"""What arguments are called that take a file."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="the shell")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Print the script; with `--json` as the text of a document."""
    import shtab

    parser = build_parser(list(COMMANDS))
    for action in _actions(parser):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks for it
        elif action.dest == "topic":
            action.choices = [*PAGES, *COMMANDS]
    script = shtab.complete(parser, args.shell)
    if out.json:
        out.document({"shell": args.shell, "script": script})
    else:
        print(script)  # noqa: T201 - the shell reads it as it is
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Iterate over the arguments of a parser and of its subcommands."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to them
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for sub in action.choices.values():
                yield from _actions(sub)
