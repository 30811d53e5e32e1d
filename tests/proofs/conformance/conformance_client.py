"""The client that the conformance suite tries: a space of ours, synced with the server at the address it is given.

It signs in where the server asks for that, calls each tool that is listed, and answers what a tool asks with the
defaults of the form. The scenario's context, which it has from the environment, becomes the entry of `mcp.json`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from infospace import Space, open_space
from infospace.tools.mcp.catalogue.sync import sync
from infospace.tools.mcp.connections import browser_sign_in
from planner.lifecycle.resume import answer, resume
from planner.metatools.execute_tool import prepare_call
from planner.metatools.registry import META

MOST_ANSWERS = 5


def entry_for(url: str, scenario: str, context: dict[str, Any]) -> dict[str, Any]:
    """Return the entry that somebody would write who knows what the scenario tells."""
    entry: dict[str, Any] = {"url": url, "autoApprove": True, "timeout_s": 20, "start_timeout_s": 20}
    oauth: dict[str, Any] = {}
    if scenario == "auth/basic-cimd":
        oauth["client_metadata_url"] = "https://conformance-test.local/client-metadata.json"
    if "client_id" in context:
        oauth["client_id"] = context["client_id"]
    if "client_secret" in context:
        oauth["client_secret"] = "${CONFORMANCE_SECRET}"  # noqa: S105 - a variable
        os.environ["CONFORMANCE_SECRET"] = context["client_secret"]
    if "private_key_pem" in context:
        oauth |= {"private_key": "${CONFORMANCE_KEY}", "signing_algorithm": context["signing_algorithm"]}
        os.environ["CONFORMANCE_KEY"] = context["private_key_pem"]
    if "client-credentials" in scenario:
        oauth |= {"grant": "client_credentials", "issuer": issuer_of(url)}
    if "idp_token_endpoint" in context:
        oauth |= {"grant": "identity_assertion", "issuer": issuer_of(url), "id_token": context["idp_id_token"]}
        oauth |= {name: context[name] for name in ("idp_token_endpoint", "idp_client_id")}
    if scenario == "auth/2025-03-26-oauth-metadata-backcompat":
        # Its authorization server calls itself otherwise than the place where it is found, so it has to be named.
        oauth["issuer"] = told_at(url, "oauth-authorization-server")["issuer"]
    return entry | ({"oauth": oauth} if oauth else {})


def issuer_of(url: str) -> str:
    """Return the authorization server of a server: what its operator would tell."""
    issuer: str = told_at(url, "oauth-protected-resource", urlsplit(url).path)["authorization_servers"][0]
    return issuer


def told_at(url: str, name: str, path: str = "") -> dict[str, Any]:
    """Return what a server tells at a well-known address."""
    parts = urlsplit(url)
    with urllib.request.urlopen(f"{parts.scheme}://{parts.netloc}/.well-known/{name}{path}", timeout=20) as told:  # noqa: S310 - of the suite
        found: dict[str, Any] = json.load(told)
    return found


async def tried(folder: Path, entry: dict[str, Any]) -> int:
    """Sync, and call each tool in a run of its own; return an exit code."""
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"suite": entry}}), encoding="utf-8")
    with open_space(folder / "space.db") as space:
        assert space.tools.servers is not None
        space.tools.servers.sign_in = browser_sign_in(lambda line: print(line, file=sys.stderr))
        done = await sync(space, mcp=file)
        for failed in done.failed:
            print(failed.reason, file=sys.stderr)
        for tool in list(space.tools):
            if tool.server == "suite":
                await called(space, tool.full_name, tool.input_schema)
    return 1 if done.failed else 0


async def called(space: Space, name: str, schema: Mapping[str, Any]) -> None:
    """Call a tool in a run of its own, and answer what it asks."""
    given = {key: made_up(part) for key, part in schema.get("properties", {}).items()}
    call = prepare_call(space, META["execute_tool"].validate({"tool_name": name, "arguments": given}))
    result = await call.play(space, lambda _event: None)
    for _ in range(MOST_ANSWERS):
        if result.status != "suspended":
            break
        for pending in result.pending:
            answer(space, str(result.run), pending.step, {})
        result = await resume(space, str(result.run))
    print(name, result.status, result.steps[-1].error if result.steps else "", file=sys.stderr)


def made_up(schema: Any) -> Any:
    """Return a value of a type."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    return {"string": "a", "number": 2, "integer": 2, "boolean": True, "array": [], "object": {}}.get(kind, "a")


def main() -> int:
    """Try the server whose address is the last argument."""
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    with tempfile.TemporaryDirectory() as made:
        os.environ["XDG_DATA_HOME"] = made
        return asyncio.run(tried(Path(made), entry_for(sys.argv[-1], scenario, context)))


if __name__ == "__main__":
    raise SystemExit(main())
