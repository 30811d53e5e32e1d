"""The official conformance suite: our client passes each of its scenarios. With INFOSPACE_PROVE=1 it is fetched."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
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
