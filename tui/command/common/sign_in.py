"""Signing in to servers from a command: the browser is opened where somebody is there to use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infospace.space import Space
    from tui.text.output import Output


def offer_sign_in(space: Space, out: Output) -> None:
    """Let servers that ask for a sign-in open the browser: at a terminal, or where BROWSER names one."""
    from infospace.tools.mcp.auth.sign_in import somebody_is_here
    from infospace.tools.mcp.connections import browser_sign_in

    if space.tools.servers is not None and somebody_is_here():
        space.tools.servers.sign_in = browser_sign_in(out.talk)
