"""Look at a space on a screen: its runs as they go, their plans, steps and variables.

Needs the extra `tui`. F1 or `?` explains each place; ctrl+q leaves.
"""

from __future__ import annotations

import argparse

from infospace.errors import InfospaceError
from tui.command.output import Output, UsageError
from tui.command.spaces import open_from

EXAMPLES = """examples:
  infospace tui
  infospace tui --space notes.db"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: there are none beside the space."""
    del parser


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show the screen until somebody leaves."""
    import sys

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the screen needs a terminal", hint="`infospace runs` and `infospace show` print instead")
    try:
        from tui.app import InfospaceApp
    except ModuleNotFoundError as error:
        raise UsageError("the screen is not installed", hint="pip install 'infospace[tui]'") from error
    from tui.memory import Memory, usual_path

    with open_from(args, create=True) as space:
        app = InfospaceApp(space, Memory(usual_path()))
        app.run()
    try:
        app.memory.write()
    except InfospaceError as error:
        out.talk(str(error), "yellow")
    return app.return_code or 0
