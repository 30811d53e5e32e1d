"""What a client is told for its log: how far runs are (`info`), and what was refused (`warning`), from a level on.

In the earlier protocol a client sets the level once, and is told nothing before; in the later one each request says it.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any, Final, get_args

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

LEVELS: Final = get_args(types.LoggingLevel)
"""From the least to the most severe."""
LOGGER: Final = "infospace"


class ClientLogs:
    """The levels of the clients of one server."""

    def __init__(self) -> None:
        self._levels: dict[int, int] = {}

    async def set_level(
        self, context: ServerRequestContext[Any, Any], params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        """Tell a client from now on what is at least as severe, until its connection ends."""
        connection = context.session._connection  # noqa: SLF001 - the SDK shows no other way to learn of its end
        if id(connection) not in self._levels:
            connection.exit_stack.callback(self._levels.pop, id(connection), None)
        self._levels[id(connection)] = LEVELS.index(params.level)
        return types.EmptyResult()

    async def tell(self, context: ServerRequestContext[Any, Any], level: types.LoggingLevel, text: str) -> None:
        """Tell a client something, where it wants to be told; a client that is gone is told nothing."""
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            least = self._levels.get(id(context.session._connection))  # noqa: SLF001 - as above
            if least is None or LEVELS.index(level) < least:
                return
        with warnings.catch_warnings():
            # The later protocol gives logs up; who asks for them is told all the same.
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            sending = context.session.send_log_message(level, text, LOGGER, context.request_id)
        with suppress(MCPError):
            await sending
