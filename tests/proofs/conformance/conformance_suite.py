"""The official conformance suite of the protocol, from npm: which scenarios there are, and one of them against us."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ONE_S = 120
SCENARIO_MS = "90000"


@dataclass(frozen=True)
class Outcome:
    """How a scenario ended, and what the suite said."""

    passed: bool
    said: str


@dataclass(frozen=True)
class Suite:
    """The suite in a folder of commands (`node_modules/.bin`)."""

    commands: Path

    def scenarios(self, kind: str) -> list[str]:
        """Return the names of the scenarios for a `client` or a `server`, as the suite lists them."""
        found: dict[str, list[str]] = {}
        current: list[str] = []
        for line in self._run("list").stdout.splitlines():
            if line.endswith("):"):
                current = found.setdefault(line.split()[0].lower(), [])
            elif line.startswith("  - "):
                current.append(line.split()[1])
        return found[kind]

    def client(self, scenario: str, results: Path) -> Outcome:
        """Try our client; the browser is a command that consents."""
        browser = f"{sys.executable} {HERE / 'conformance_browser.py'} %s"
        command = f"{sys.executable} {HERE / 'conformance_client.py'}"
        environment = {**os.environ, "BROWSER": browser, "NO_PROXY": "localhost,127.0.0.1"}
        options = ("--scenario", scenario, "--timeout", SCENARIO_MS, "-o", str(results))
        return _outcome(self._run("client", "--command", command, *options, environment=environment))

    def server(self, scenario: str, url: str, results: Path) -> Outcome:
        """Try a server at an address."""
        return _outcome(self._run("server", "--url", url, "--scenario", scenario, "-o", str(results)))

    def _run(self, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        script = self.commands.parent / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
        command = [str(self.commands / "node"), str(script), *arguments]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=ONE_S, errors="replace"
        )


def _outcome(done: subprocess.CompletedProcess[str]) -> Outcome:
    return Outcome(done.returncode == 0, done.stdout[-6_000:] + done.stderr[-6_000:])
