"""Registries over real HTTP on loopback: what they list is found as not connected, and what is hostile is left out."""

from __future__ import annotations

import json
import sys
from asyncio import run
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infospace import Conflict, Invalid, NotFound, Space
from infospace.core.tool import NotCalled
from infospace.tools.builtin import searched
from infospace.tools.mcp.registries.documents import MOST_PAGES
from infospace.tools.mcp.registries.fetch import Fetcher
from infospace.tools.mcp.registries.saved import registries, remove
from infospace.tools.mcp.registries.server_json import read_server
from infospace.tools.mcp.registries.update import _address, add, refresh
from infospace.tools.mcp.transport.hosts import must_be_public
from infospace.tools.search.results import ToolQuery
from planner.metatools.arguments import DescribeTool, ExecuteTool, ManageConnections, SearchTools
from planner.metatools.describe_tool import describe_tool
from planner.metatools.execute_tool import execute_tool
from planner.metatools.manage_connections import manage_connections
from planner.metatools.search_tools import search_tools

sys.path.insert(0, str(Path(__file__).parent))
from registry_server import Registry, listed, npm, registry_served
from served import odd, synced, write

KEY = {"name": "WEATHER_KEY", "isRequired": True, "isSecret": True}
WEATHER = listed("io.github.ann/weather", "Weather and forecasts", npm("@ann/weather", environmentVariables=[KEY]))


@pytest.fixture
def web() -> Iterator[Registry]:
    with registry_served() as server:
        yield server


def names(space: Space) -> list[str]:
    return [one.server for one in space.tools.never_listed()]


def test_a_list_is_read_to_its_last_page_and_its_servers_are_found(space: Space, web: Registry) -> None:
    """As not connected, with the command and the names of what it needs; described, and refused when called."""
    web.servers = [listed(f"a.b/s{at}", "Nothing of that", npm(f"s{at}")) for at in range(4)] + [WEATHER]
    found = add(space.store, web.url)
    assert (found.form, len(found.servers), found.left_out) == ("MCP registry", 5, [])
    assert web.asked == ["/v0/servers", *(f"/v0/servers?cursor=page-{at}&limit=100" for at in (1, 2))]
    (hit, *_) = space.finder.find(searched(space), ToolQuery("forecast of the weather")).hits
    assert (hit.tool.full_name, hit.tool.connected) == ("weather/*", False)
    assert (hit.tool.annotated, hit.tool.trusted) == (False, False), "nobody knows what its tools do"
    assert hit.tool.needs == (
        "the registry '127.0.0.1' lists it: `infospace tools connect io.github.ann/weather` connects it, and runs "
        "`npx -y @ann/weather@1.2.3`; it needs WEATHER_KEY (secret)"
    )
    (told, *_) = run(search_tools(space, SearchTools(query="forecast of the weather")))["tools"]
    assert (told["tool_name"], told["connected"], told["needs"]) == ("weather/*", False, hit.tool.needs)
    assert run(describe_tool(space, DescribeTool(tool_name="weather/*")))["needs"] == hit.tool.needs
    with pytest.raises(NotFound, match=r"the server 'weather' has no entry in `mcp\.json` yet") as unconnected:
        run(manage_connections(space, ManageConnections(action="initiate", server="weather")))
    assert unconnected.value.hint == hit.tool.needs
    with pytest.raises(NotCalled, match="cannot be called yet"):
        run(execute_tool(space, ExecuteTool(tool_name="weather/*", arguments={})))


def test_what_is_connected_or_named_alike_is_told_apart(space: Space, web: Registry, tmp_path: Path) -> None:
    """A server whose package or URL an entry runs is not listed again; of one name each has its whole name."""
    web.servers = [WEATHER, listed("b/tide", "Tides", npm("tide")), listed("c/tide", "Tides", npm("other-tide"))]
    web.servers.append(listed("d/remote", "Far", remotes=[{"type": "streamable-http", "url": f"{web.url}/mcp"}]))
    add(space.store, web.url)
    assert names(space) == ["weather", "b.tide", "c.tide", "remote"]
    entry = {"command": "npx", "args": ["@ann/weather@9.9.9"]}
    synced(space, mcp=write(tmp_path, mine=entry | {"disabled": True}, far={"url": f"{web.url}/mcp", "disabled": True}))
    assert names(space) == ["b.tide", "c.tide"]


def test_a_sync_keeps_what_registries_list(space: Space, web: Registry, tmp_path: Path) -> None:
    web.servers = [WEATHER]
    add(space.store, web.url)
    done = synced(space, mcp=write(tmp_path, odd=odd("plain")))
    assert (done.listed, done.removed, names(space)) == (["odd"], [], ["weather"])


def test_reading_again_follows_and_keeps_what_was_where_it_fails(space: Space, web: Registry) -> None:
    """Changed, new and gone servers; one that cannot be reached keeps its list and says why."""
    web.servers = [WEATHER, listed("b/tide", "Tides", npm("tide"))]
    add(space.store, web.url, "ours")
    web.servers = [WEATHER, listed("c/stars", "Stars", npm("stars"))]
    assert [one.name for one in refresh(space.store, "ours").servers] == ["io.github.ann/weather", "c/stars"]
    web.own["/v0/servers"] = (500, {}, b"no")
    failed = refresh(space.store, "ours")
    assert failed.error == f"the registry {web.url}/v0/servers cannot be read: {web.url}/v0/servers answered HTTP 500"
    assert names(space) == ["weather", "stars"]
    with pytest.raises(Conflict, match="the registry 'ours' already"):
        add(space.store, f"{web.url}/v0/servers")
    remove(space.store, "ours")
    assert (names(space), registries(space.store)) == ([], [])
    with pytest.raises(NotFound, match="no registry 'ours'"):
        refresh(space.store, "ours")


def test_a_search_of_npm_is_read_to_its_end(space: Space, web: Registry) -> None:
    web.packages = [{"name": f"@a/p{at}", "version": "1.0.0", "keywords": ["pdf"], "links": {}} for at in range(5)]
    found = add(space.store, f"{web.url}/-/v1/search?text=mcp")
    assert (found.form, [one.name for one in found.servers]) == ("npm search", [f"@a/p{at}" for at in range(5)])
    assert found.servers[0].tags == ("pdf",)
    assert web.asked[-1] == "/-/v1/search?text=mcp&from=4&size=100"


@pytest.mark.parametrize("form", ["list", "search", "single", "bare"])
def test_a_file_is_read_as_well(space: Space, tmp_path: Path, form: str) -> None:
    """Each of the documents, and a list whose entries are not wrapped, in the earlier spelling."""
    old = {
        "name": "io.github.ann/weather",
        "version_detail": {"version": "1"},
        "packages": [
            {"registry_type": "npm", "identifier": "w", "environment_variables": [{"name": "A", "is_required": True}]}
        ],
    }
    written: dict[str, Any] = {
        "list": {"servers": [WEATHER]},
        "search": {"objects": [{"package": {"name": "weather", "version": "1.0.0"}}], "total": 9},
        "single": WEATHER["server"],
        "bare": {"servers": [old], "metadata": {"next_cursor": "more"}},
    }
    path = tmp_path / "list.json"
    path.write_text(json.dumps(written[form]))
    (server,) = add(space.store, str(path)).servers
    assert server.short == "weather"
    assert [one.name for one in server.variables] == {"bare": ["A"], "search": []}.get(form, ["WEATHER_KEY"])


def test_a_file_may_not_name_a_private_network(space: Space, tmp_path: Path) -> None:
    """It may be from anywhere; what a registry on this machine lists may."""
    remotes = [{"type": "streamable-http", "url": "https://10.0.0.1/mcp"}]
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"servers": [listed("a/inside", "Inside", remotes=remotes), WEATHER]}))
    found = add(space.store, str(path))
    assert [one.name for one in found.servers] == ["io.github.ann/weather"]
    assert "'https://10.0.0.1/mcp', which is this machine or one of a private network" in found.left_out[0]


def test_old_and_deleted_versions_are_not_listed(space: Space, web: Registry) -> None:
    official = "io.modelcontextprotocol.registry/official"
    for version, meta in (("1", {"isLatest": False}), ("2", {"isLatest": True})):
        web.servers.append({"server": {**WEATHER["server"], "version": version}, "_meta": {official: meta}})
    web.servers.append({"server": listed("b/gone", "", npm("g"))["server"], "_meta": {official: {"status": "deleted"}}})
    assert [(one.name, one.version) for one in add(space.store, web.url).servers] == [("io.github.ann/weather", "2")]


def package(**more: Any) -> dict[str, Any]:
    return listed("a/bad", "Bad", {**npm("fine"), **more})


HOSTILE = [
    (7, "it is 7, not an object"),
    ({"server": None}, "it is null, not an object"),
    ({"server": {"name": 7}}, "its `name` is 7, not a text"),
    (listed("a/b; rm -rf /", "", npm("x")), "cannot be a server's name"),
    (listed("../../etc", "", npm("x")), "cannot be a server's name"),
    (listed("a/none", "Nothing"), "neither `packages` nor `remotes`"),
    (listed("a/long", "", npm("x" * 400)), "cannot be the name of a package of npm"),
    (listed("a/many", "", *[npm("x")] * 101), "its `packages` has 101 items"),
    (listed("a/text", "", title="x" * 3000, packages=[npm("x")]), "its `title` has 3,000 characters"),
    (listed("a/escape", "", title="\x1b[31mred", packages=[npm("x")]), "characters that cannot be shown"),
    (package(identifier="x; rm -rf /"), "'x; rm -rf /' cannot be the name of a package of npm"),
    (package(identifier="--eval=1"), "cannot be the name of a package"),
    (package(identifier="$(id)"), "cannot be the name of a package"),
    (package(version="1 && id"), "'1 && id' cannot be the version of a package"),
    (package(registryType="brew"), "its package is of the kind 'brew' (npm, pypi, oci, nuget and mcpb are known)"),
    (package(runtimeHint="bash"), "it is to be run by 'bash'"),
    (package(runtimeArguments=[{"type": "named", "name": "-c", "value": "id"}]), "`npx -c`, which could run anything"),
    (package(runtimeArguments="-y"), 'its `runtimeArguments` is "-y", not a list'),
    (package(packageArguments=[{"type": "odd"}]), "an argument of it is of the type 'odd'"),
    (package(packageArguments=[{"type": "positional", "value": "a\nb"}]), "characters that cannot be shown"),
    (package(packageArguments=[{"type": "positional", "value": "${HOME}"}]), "its `value` holds `${`"),
    (package(environmentVariables=[{"name": "LD_PRELOAD", "value": "/x.so"}]), "it sets LD_PRELOAD"),
    (package(environmentVariables=[{"name": "NODE_OPTIONS", "isRequired": True}]), "it sets NODE_OPTIONS"),
    (package(environmentVariables=[{"name": "A B", "value": "x"}]), "'A B' cannot be the name of a variable"),
    (
        package(environmentVariables=[{"name": "A", "isRequired": "yes"}]),
        'its `isRequired` is "yes", not true or false',
    ),
    (
        package(
            environmentVariables=[
                {"name": "A", "value": "{b}{a}", "variables": {"b": {"value": "$"}, "a": {"value": "{HOME}"}}}
            ]
        ),
        "values of it make `${` together",
    ),
    (
        package(
            environmentVariables=[
                {"name": "A", "value": "{b}{a}", "variables": {"b": {"value": "$"}, "a": {"value": "{HOME:-x}"}}}
            ]
        ),
        "values of it make `${` together",
    ),
    (package(transport={"type": "streamable-http", "url": "http://localhost"}), "only stdio is started here"),
    (package(fileSha256="ab"), "its `fileSha256` is 'ab', not a SHA-256"),
    (package(fileSha256="a" * 64), "the checksum cannot be enforced"),
    (package(registryType="mcpb", identifier="https://x.example/a.mcpb"), "has no `fileSha256`"),
    (
        package(registryType="oci", runtimeArguments=[{"type": "named", "name": "--privileged", "value": ""}]),
        "which lets it out of its container",
    ),
    (listed("a/sse", "", remotes=[{"type": "sse", "url": "https://x.example"}]), "it is reached by 'sse'"),
    (listed("a/file", "", remotes=[{"type": "streamable-http", "url": "file:///etc/passwd"}]), "its URL is 'file:"),
    (listed("a/user", "", remotes=[{"type": "streamable-http", "url": "https://a:b@x.example"}]), "its URL is"),
    (
        listed(
            "a/header",
            "",
            remotes=[{"type": "streamable-http", "url": "https://x.example", "headers": [{"name": "A\r\nB"}]}],
        ),
        "characters that cannot be shown",
    ),
]


@pytest.mark.parametrize(("entry", "sentence"), HOSTILE)
def test_a_hostile_entry_is_left_out_with_a_sentence_and_the_others_stay(
    space: Space, web: Registry, entry: Any, sentence: str
) -> None:
    web.servers = [entry, WEATHER]
    found = add(space.store, web.url)
    assert [one.name for one in found.servers] == ["io.github.ann/weather"]
    (told,) = found.left_out
    assert sentence in told
    assert "\x1b" not in told
    assert len(told) < 500


@pytest.mark.parametrize(
    ("value", "sentence"), [("[" * 99_999 + "]" * 99_999, "nested more than 200"), ("9" * 5000, "5,000 digits")]
)
def test_an_entry_that_no_reader_of_json_reads_is_left_out(
    space: Space, web: Registry, value: str, sentence: str
) -> None:
    body = f'{{"servers": [{json.dumps(WEATHER)}, {{"server": {{"name": {value}}}}}, 7]}}'
    web.own["/v0/servers"] = (200, {}, body.encode())
    found = add(space.store, web.url)
    assert [one.name for one in found.servers] == ["io.github.ann/weather"]
    assert sentence in found.left_out[0]
    assert found.left_out[1] == "'entry 3 of page 1' is left out: it is 7, not an object"


WRONG: list[tuple[str, tuple[int, dict[str, str], bytes], str]] = [
    ("/v0/servers", (200, {}, b"<html>"), "is not JSON"),
    ("/v0/servers", (200, {}, b"[]"), "it is [], not an object"),
    ("/v0/servers", (200, {}, b'{"a": 1}'), "it is the document of no registry"),
    ("/v0/servers", (200, {}, b'{"servers": [], "metad'), "cut off"),
    ("/v0/servers", (200, {}, b'{"servers": [{}], "metadata": {"nextCursor": 7}}'), "its `nextCursor` is 7"),
    ("/v0/servers", (200, {}, b" " * (16 * 2**20 + 1)), "answers with more than 16 MB"),
    ("/v0/servers", (200, {"content-encoding": "gzip"}, b"x"), "compresses its answer"),
    ("/v0/servers", (404, {}, b""), "answered HTTP 404"),
    ("/v0/servers", (302, {"location": "http://169.254.169.254/latest/meta-data"}, b""), "another host"),
    ("/v0/servers", (302, {"location": "/v0/servers"}, b""), "leads on and on"),
    ("/v0/servers", (302, {"location": "http://[broken"}, b""), "is not a URL"),
    ("/v0/servers", (200, {}, b"\xff\xfe\x00"), "UTF-16"),
]


@pytest.mark.parametrize(("path", "answer", "sentence"), WRONG)
def test_a_registry_that_answers_wrongly_is_refused_in_a_sentence(
    space: Space, web: Registry, path: str, answer: tuple[int, dict[str, str], bytes], sentence: str
) -> None:
    """And nothing of it is kept."""
    web.own[path] = answer
    with pytest.raises(Invalid) as refused:
        add(space.store, web.url)
    assert refused.value.message.startswith(f"the registry {web.url}")
    assert sentence in refused.value.message
    assert registries(space.store) == []


@pytest.mark.parametrize("path", ["", "/-/v1/search?text=mcp"])
def test_pages_that_go_round_end(space: Space, web: Registry, path: str) -> None:
    web.servers = [listed(f"a.b/s{at}", "", npm(f"s{at}")) for at in range(5)]
    web.packages = [{"name": f"p{at}", "version": "1.0.0"} for at in range(2)]
    web.cycle = True
    with pytest.raises(Invalid, match="its list does not end"):
        add(space.store, web.url + path)
    assert len(web.asked) < min(10, MOST_PAGES)


ADDRESSES = [
    ("https://github.com/ann/weather", "https://raw.githubusercontent.com/ann/weather/HEAD/server.json"),
    (
        "https://github.com/ann/w.x/blob/main/a/server.json",
        "https://raw.githubusercontent.com/ann/w.x/main/a/server.json",
    ),
    ("https://registry.example.org", "https://registry.example.org/v0/servers"),
    ("https://registry.example.org/v0.1/", "https://registry.example.org/v0.1/servers"),
    ("https://registry.example.org/v0/servers?search=x", "https://registry.example.org/v0/servers?search=x"),
]


@pytest.mark.parametrize(("written", "read"), ADDRESSES)
def test_a_short_address_leads_to_the_document(written: str, read: str) -> None:
    assert _address(written) == read


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("ftp://x.example", "is not a URL"),
        ("https://", "is not a URL"),
        ("http://[", "is not a URL"),
        ("https://ann:pass@x.example/v0/servers", "holds a name or a password"),
        ("http://x.example/v0/servers", "nothing protects"),
    ],
)
def test_an_address_that_no_registry_has(space: Space, written: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence) as refused:
        add(space.store, written)
    assert "pass@" not in str(refused.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "localhost", "db.internal", "::"])
def test_a_host_that_nobody_named_is_public(host: str) -> None:
    """Of this machine or a private network nothing is asked on the word of a registry elsewhere."""
    with pytest.raises(Invalid, match="private network"):
        must_be_public(host)
    url = f"https://[{host}]/" if ":" in host else f"https://{host}/"
    with pytest.raises(Invalid, match="private network"):
        Fetcher(url, trusted=False)
    with pytest.raises(Invalid, match="private network"):
        read_server(listed("a/b", "", remotes=[{"type": "streamable-http", "url": url}])["server"])


def test_what_packages_are_run_by() -> None:
    """Each kind by its own runner, options before it and arguments behind it."""
    env = [{"name": "TOKEN", "isRequired": True}]
    own = [
        {"type": "named", "name": "--port", "default": 80},
        {"type": "named", "name": "--fast"},
        {"type": "positional", "valueHint": "folder", "isRequired": True},
        {"type": "positional", "valueHint": "more"},
    ]
    lines = {
        kind: read_server(
            {
                "name": "a/s",
                "packages": [
                    {
                        "registryType": kind,
                        "identifier": name,
                        "version": "1",
                        "packageArguments": own,
                        "environmentVariables": env,
                    }
                ],
            }
        ).launch
        for kind, name in (("npm", "@a/b"), ("pypi", "a-b"), ("oci", "docker.io/a/b"), ("nuget", "A.B"))
    }
    assert lines == {
        "npm": "npx -y @a/b@1 --port 80 --fast '${S_FOLDER}'",
        "pypi": "uvx a-b@1 --port 80 --fast '${S_FOLDER}'",
        "oci": "docker run -i --rm -e TOKEN docker.io/a/b:1 --port 80 --fast '${S_FOLDER}'",
        "nuget": "dnx A.B@1 --yes -- --port 80 --fast '${S_FOLDER}'",
    }
