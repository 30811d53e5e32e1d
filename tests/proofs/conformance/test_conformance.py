"""The official conformance suite, against our client and our server. With INFOSPACE_PROVE=1 it is fetched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conformance_proxy import with_token
from conformance_suite import Suite
from nodeservers import CONFORMANCE, install

CLIENT = (
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/cross-app-access-complete-flow",
)


SERVER = (
    *("server-initialize", "logging-set-level", "ping", "completion-complete", "tools-list", "server-sse-polling"),
    *("server-sse-multiple-streams", "resources-list", "resources-subscribe", "resources-unsubscribe", "prompts-list"),
    "dns-rebinding-protection",
)
MADE_UP = (
    *("tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource"),
    *("tools-call-mixed-content", "tools-call-with-logging", "tools-call-error", "tools-call-with-progress"),
    *("tools-call-sampling", "tools-call-elicitation", "json-schema-2020-12", "elicitation-sep1034-defaults"),
    *("elicitation-sep1330-enums", "resources-read-text", "resources-read-binary", "resources-templates-read"),
    *("prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image"),
)
"""Scenarios that call tools, resources and prompts which the suite made up: a server has them to be tried alone."""


@pytest.fixture(scope="session")
def suite(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The suite, kept in pytest's cache if there is one."""
    if not os.environ.get("INFOSPACE_PROVE"):
        pytest.skip("the suite has 236 MB; `make prove` fetches it")
    if shutil.which("npm") is None:
        pytest.skip("there is no Node here: `npm` is not found")
    cache = getattr(pytestconfig, "cache", None)
    name = "infospace-conformance-" + "-".join(one.rpartition("@")[2] for one in CONFORMANCE)
    folder = tmp_path_factory.mktemp("conformance") if cache is None else Path(cache.mkdir(name))
    return Suite(install(folder, CONFORMANCE))


def test_all_scenarios_of_a_client_are_tried(suite: Suite) -> None:
    assert sorted(suite.scenarios("client")) == sorted(CLIENT)


@pytest.mark.parametrize("scenario", CLIENT)
def test_our_client_passes(suite: Suite, tmp_path: Path, scenario: str) -> None:
    outcome = suite.client(scenario, tmp_path)
    assert outcome.passed, outcome.said


def test_all_scenarios_of_a_server_are_tried_that_ask_for_nothing_made_up(suite: Suite) -> None:
    assert sorted(suite.scenarios("server")) == sorted((*SERVER, *MADE_UP))


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of ours over HTTP, behind a door that brings its token."""
    token = "a-token-for-the-suite-alone"  # noqa: S105 - it opens nothing but what is served here
    space = tmp_path_factory.mktemp("served") / "a.db"
    command = [sys.executable, "-m", "tui.command", "--space", str(space), "serve", "--http", "0", "--tools", "full"]
    environment = {**os.environ, "INFOSPACE_TOKEN": token}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        try:
            port = int(process.stderr.readline().split()[-1].rpartition(":")[2].partition("/")[0])
            # What it says meanwhile is read, so that it is never held up by it.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            with with_token(port, token) as own:
                yield f"http://127.0.0.1:{own}/mcp"
        finally:
            process.terminate()
            process.wait(60)


@pytest.mark.parametrize("scenario", SERVER)
def test_our_server_passes(suite: Suite, door: str, tmp_path: Path, scenario: str) -> None:
    outcome = suite.server(scenario, door, tmp_path)
    assert outcome.passed, outcome.said
