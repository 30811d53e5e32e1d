"""Read the documentation.

TOPIC is a page, a command, a primitive, or the code of a problem. Without it the pages are listed. `add` is the
command; `infospace primitives add` shows the primitive.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress

from tui.command import COMMANDS, build_parser
from tui.help import PAGES, SEE, codes, page, section
from tui.text.output import Output, UsageError

EXAMPLES = """examples:
  infospace help
  infospace help getting-started
  infospace help run
  infospace help unknown-field
  infospace help discover-notes
  infospace help --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("topic", nargs="?", metavar="TOPIC", help="a page, a command, a primitive or a problem's code")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show a page, or list all."""
    topic = args.topic
    if topic is None:
        _list(out)
    elif topic in PAGES:
        _show(out, topic, page(topic))
    elif topic in COMMANDS:
        _command(out, topic)
    elif topic in codes():
        _show(out, topic, section(topic))
    else:
        _primitive(out, topic)
    return 0


def _list(out: Output) -> None:
    if out.json:
        out.document({"topics": [{"topic": topic, "summary": summary} for topic, summary in PAGES.items()]})
        return
    width = max(map(len, PAGES))
    for topic, summary in PAGES.items():
        out.text(f"{topic:<{width}}  {summary}", crop=True)
    out.talk(
        "`infospace help TOPIC` shows a page; TOPIC is also a command, a primitive, or the code of a problem", "dim"
    )


def _show(out: Output, topic: str, text: str) -> None:
    if out.json:
        out.document({"topic": topic, "markdown": text})
    else:
        from tui.command.common.paging import show_markdown

        show_markdown(text, out)


def _command(out: Output, name: str) -> None:
    shown = io.StringIO()
    with redirect_stdout(shown), suppress(SystemExit):
        build_parser([name]).parse_args([name, "--help"])
    if out.json:
        out.document({"topic": name, "text": shown.getvalue(), "page": SEE.get(name)})
        return
    out.text(shown.getvalue().rstrip())
    if name in SEE:
        out.text(f"\n`infospace help {SEE[name]}` says more.")


def _primitive(out: Output, topic: str) -> None:
    """Show a primitive's contract, or say that nothing is called so."""
    from infospace.contract.catalogue import installed
    from planner.parse.control_flow import FORMS
    from planner.parse.vocabulary import full

    catalogue = installed()
    types = [entry.type for entry in catalogue]
    if topic not in (*types, *FORMS):
        raise _unknown(topic, [*types, *FORMS])
    _show(out, topic, full(catalogue, [topic]))


def _unknown(topic: str, types: Sequence[str]) -> UsageError:
    from difflib import get_close_matches

    near = get_close_matches(topic, [*PAGES, *COMMANDS, *codes(), *types], n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`infospace help` lists the topics"
    return UsageError(f"there is no topic {topic!r}", hint=hint)
