"""The servers of an `mcp.json` behind FastMCP's search for tools: `python fastmcp_server.py FILE json|markdown`.

The model is given `search_tools` and `call_tool` alone; a tool is called `SERVER_TOOL`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from fastmcp import Client
from fastmcp.server import create_proxy
from fastmcp.server.transforms.search import (
    BM25SearchTransform,
    serialize_tools_for_output_json,
    serialize_tools_for_output_markdown,
)

FORMS = {"json": serialize_tools_for_output_json, "markdown": serialize_tools_for_output_markdown}


async def serve(config: dict[str, Any], form: str) -> None:
    """Serve over standard input and output. The servers are connected once: else each call starts all of them anew."""
    async with Client(config, mode="legacy") as servers:
        server = create_proxy(servers, name="searched")
        server.add_transform(BM25SearchTransform(search_result_serializer=FORMS[form]))
        await server.run_async(show_banner=False)


if __name__ == "__main__":
    file, form = sys.argv[1:]
    asyncio.run(serve(json.loads(Path(file).read_text(encoding="utf-8")), form))
