"""What is read of a `server.json` and of a package that npm lists: fields, command lines, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.core.errors import Invalid
from infospace.tools.mcp.registries.listed_server import Checksum, ListedServer, Variable
from infospace.tools.mcp.registries.server_json import read_npm_package, read_server

NPM: dict[str, Any] = {"registryType": "npm", "identifier": "w", "version": "1"}


def read(*packages: dict[str, Any], **members: Any) -> ListedServer:
    """Read a server with these packages."""
    return read_server({"name": "a/it", "description": "It.", "packages": list(packages), **members})


def line(**package: Any) -> str:
    """Return the command line that a package is run by."""
    return read({**NPM, **package}).launch


def test_a_package_that_npm_lists_is_read_whole() -> None:
    """Its keywords are tags: each once, in order, a hundred at most, without what is no short text."""
    keywords = ["b", "a", "b", 3, "x" * 50, "x" * 51, "\x1b[31m"]
    raw = {"name": "@ann/w", "version": "1.2", "description": "Weather,\nand tides.", "keywords": keywords}
    entry = {"command": "npx", "args": ["-y", "@ann/w@1.2"]}
    expected = ListedServer("@ann/w", "Weather, and tides.", entry, "", "1.2", ("b", "a", "x" * 50), package="@ann/w")
    assert read_npm_package(raw, None) == expected
    served = read_npm_package(raw, "https://npm.example")
    assert served.checksum == Checksum("npm", "https://npm.example/@ann%2Fw/1.2", "")
    assert (served.tags, served.package, served.entry) == (expected.tags, "@ann/w", expected.entry)
    long = read_npm_package({**raw, "description": "d" * 2_001}, None)
    assert (len(long.description) <= 2_000, long.description[:9]) == (True, "d" * 9)
    with pytest.raises(Invalid, match=r"it is \[\], not an object"):
        read_npm_package([], None)


@pytest.mark.parametrize("key", ["name", "version"])
def test_a_package_that_npm_lists_has_a_name_and_a_version(key: str) -> None:
    raw = {"name": "w", "version": "1"}
    with pytest.raises(Invalid, match=f"`{key}`"):
        read_npm_package({one: text for one, text in raw.items() if one != key}, None)


def test_a_server_is_read_whole() -> None:
    """With what it reads from the environment, and what of that is secret or may be left out."""
    variables = [
        {"name": "KEY", "description": "A key.", "isRequired": True, "isSecret": True},
        {"name": "MORE", "description": "More."},
        {"name": "MODE", "value": "fast"},
    ]
    left_out = [{"type": "named", "name": "--port", "format": "number"}, {"type": "positional", "valueHint": "folder"}]
    package = {**NPM, "environmentVariables": variables, "packageArguments": left_out}
    found = read(package, title="It itself", version="2")
    assert (found.name, found.description, found.title, found.version) == ("a/it", "It.", "It itself", "2")
    assert (found.package, found.checksum, found.tags) == ("w", None, ())
    assert list(found.variables) == [Variable("KEY", "A key.", secret=True)]
    assert list(found.optional) == [Variable("MORE", "More.")]
    assert found.entry == {"command": "npx", "args": ["-y", "w@1"], "env": {"KEY": "${KEY}", "MODE": "fast"}}


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ({}, "npx -y w@1"),
        ({"version": ""}, "npx -y w"),
        ({"runtimeArguments": [{"type": "positional", "value": "--yes"}]}, "npx --yes w@1"),
        ({"packageArguments": [{"type": "positional", "value": "x"}]}, "npx -y w@1 x"),
        ({"packageArguments": [{"type": "named", "name": "--port", "value": "80"}]}, "npx -y w@1 --port 80"),
        ({"packageArguments": [{"type": "named", "name": "--fast"}]}, "npx -y w@1 --fast"),
        (
            {"packageArguments": [{"type": "positional", "valueHint": "folder", "isRequired": True}]},
            "npx -y w@1 '${IT_FOLDER}'",
        ),
        ({"packageArguments": [{"type": "positional", "isRequired": True}]}, "npx -y w@1 '${IT_ARGUMENT}'"),
        ({"registryType": "pypi"}, "uvx w@1"),
        ({"registryType": "pypi", "version": ""}, "uvx w"),
        ({"registryType": "nuget"}, "dnx w@1 --yes"),
        ({"registryType": "nuget", "version": "", "runtimeArguments": [{"type": "named", "name": "-y"}]}, "dnx w -y"),
        (
            {"registryType": "nuget", "packageArguments": [{"type": "positional", "value": "x"}]},
            "dnx w@1 --yes -- x",
        ),
        ({"registryType": "oci", "identifier": "docker.io/a/b"}, "docker run -i --rm docker.io/a/b:1"),
        ({"registryType": "oci", "identifier": "docker.io/a/b:2"}, "docker run -i --rm docker.io/a/b:2"),
        ({"registryType": "oci", "identifier": "b:2"}, "docker run -i --rm b:2"),
        (
            {"registryType": "oci", "identifier": f"b@sha256:{'0' * 64}"},
            f"docker run -i --rm b@sha256:{'0' * 64}",
        ),
        ({"registryType": "oci", "identifier": "host:80/a/b"}, "docker run -i --rm host:80/a/b:1"),
        ({"registryType": "oci", "identifier": "a/b", "version": ""}, "docker run -i --rm a/b"),
        (
            {"registryType": "oci", "identifier": "a/b", "runtimeArguments": [{"type": "named", "name": "--rm"}]},
            "docker run -i --rm a/b:1",
        ),
        (
            {"registryType": "oci", "identifier": "a/b", "environmentVariables": [{"name": "A", "value": "b"}]},
            "docker run -i --rm -e A a/b:1",
        ),
        ({"registryType": "oci", "identifier": "a/b", "runtimeHint": "podman"}, "podman run -i --rm a/b:1"),
    ],
)
def test_a_package_is_run_by_this_line(package: dict[str, Any], expected: str) -> None:
    assert line(**package) == expected


@pytest.mark.parametrize("kind", ["npm", "pypi", "nuget"])
def test_the_name_of_a_package_has_three_hundred_characters_at_most(kind: str) -> None:
    """Whatever its registry allows."""
    assert read({**NPM, "registryType": kind, "identifier": "x" * 300}).package == "x" * 300
    with pytest.raises(Invalid, match=f"cannot be the name of a package of {kind}"):
        read({**NPM, "registryType": kind, "identifier": "x" * 301})


@pytest.mark.parametrize(
    ("package", "message", "hint"),
    [
        ({"registryType": "brew"}, "its package is of the kind 'brew'", "npm, pypi, oci, nuget and mcpb are known"),
        ({"runtimeHint": "bash"}, "it is to be run by 'bash'", "a package of npm runs by npx"),
        ({"packageArguments": [3]}, "an argument of it is 3, not an object", None),
        ({"packageArguments": [{"type": "odd"}]}, "an argument of it is of the type 'odd'", "named or positional"),
        ({"fileSha256": "beef"}, "its `fileSha256` is 'beef', not a SHA-256", "64 hexadecimal digits"),
        ({"environmentVariables": [{"name": "a b"}]}, "'a b' cannot be the name of a variable", None),
        (
            {"environmentVariables": [{"name": "LD_PRELOAD", "value": "x"}]},
            "it sets LD_PRELOAD, by which a program can be made to run something else",
            None,
        ),
    ],
)
def test_what_is_refused_says_why_and_what_would_fit(package: dict[str, Any], message: str, hint: str | None) -> None:
    with pytest.raises(Invalid) as refused:
        line(**package)
    assert (refused.value.message, refused.value.hint) == (message, hint)


def test_the_first_way_that_can_be_read_is_taken_and_the_first_reason_told() -> None:
    """Where there is no way, that is told."""
    bad = {**NPM, "registryType": "brew"}
    found = read(bad, {**NPM, "identifier": "other"}, {**NPM, "identifier": "third"})
    assert found.package == "other"
    with pytest.raises(Invalid, match="of the kind 'brew'"):
        read(bad, {**NPM, "runtimeHint": "bash"})
    with pytest.raises(Invalid, match="neither `packages` nor `remotes`"):
        read()
    with pytest.raises(Invalid, match="'a b' cannot be a server's name") as refused:
        read(NPM, name="a b")
    assert refused.value.hint == "such as io.github.ann/weather"


def remote(**members: Any) -> ListedServer:
    """Read a server that runs behind a URL."""
    url = {"type": "streamable-http", "url": "https://w.example/mcp"}
    return read_server({"name": "a/it", "remotes": [{**url, **members}]})


def test_a_server_behind_a_url_is_read_whole() -> None:
    """What is to be given in its URL and headers is read from the environment; what may be left out is."""
    found = remote(
        url="https://w.example/{tenant}/{zone}/{other}",
        variables={"tenant": {"description": "Whose\nit is." + "x" * 300, "isSecret": True}, "zone": {"default": "eu"}},
        headers=[
            {"name": "X-Key", "value": "Bearer {key}", "isSecret": True, "variables": {"key": {}}},
            {"name": "X-More", "description": "More."},
            {"name": "X-Mode", "default": 3},
            {"name": "X-Fast", "value": True},
            {"name": "X-Must", "isRequired": True, "description": "It\nmust."},
        ],
    )
    assert found.entry == {
        "url": "https://w.example/${IT_TENANT}/eu/{other}",
        "headers": {"X-Key": "Bearer ${IT_KEY}", "X-Mode": "3", "X-Fast": "true", "X-Must": "${IT_X_MUST}"},
    }
    given = [Variable("IT_TENANT", "Whose it is." + "x" * 288, secret=True), Variable("IT_KEY", "", secret=False)]
    assert list(found.variables) == [*given, Variable("IT_X_MUST", "It must.", secret=False)]
    assert (found.optional, found.package, found.checksum) == ((), None, None)
    assert remote().entry == {"url": "https://w.example/mcp"}
    assert remote(type="", transport_type="streamable").entry == {"url": "https://w.example/mcp"}


@pytest.mark.parametrize(
    ("members", "message", "hint"),
    [
        ({"type": "sse"}, "it is reached by 'sse'", "over HTTP that is streamable-http"),
        ({"type": None}, "it has no `transportType`", None),
        ({"url": "ftp://x"}, "its URL is 'ftp://x'", "https://… without a name or a password in it"),
        ({"url": "http://x.org"}, "its URL is 'http://x.org', which nothing protects on its way", "https://…"),
        ({"headers": [{"name": "a b"}]}, "'a b' cannot be the name of a header", None),
        ({"headers": [{"name": "A", "value": "v", "isSecret": True}]}, "the header A is a secret whose value it", None),
        ({"headers": [{"name": "A", "isRequired": 1}]}, "its `isRequired` is 1, not true or false", None),
        ({"headers": {"name": "A"}}, 'its `headers` is {"name": "A"}, not a list', None),
        ({"headers": [{"name": "A"}] * 101}, "its `headers` has 101 items, more than 100", None),
        ({"variables": []}, "its `variables` are [], not an object", None),
        ({"url": "https://x.org/$" + "{HOME}"}, "its `url` holds `${`", None),
        (
            {"url": "https://x.org/{a}{b}", "variables": {"a": {"value": "$"}, "b": {"value": "{HOME}"}}},
            "values of it make `${` together",
            None,
        ),
        ({"url": "https://x.org/" + "a" * 2_000}, "its `url` has 2,014 characters, more than 2,000", None),
        ({"url": " "}, "its `url` is empty", None),
    ],
)
def test_a_url_that_is_refused_says_why(members: dict[str, Any], message: str, hint: str | None) -> None:
    with pytest.raises(Invalid) as refused:
        remote(**members)
    assert refused.value.message.startswith(message)
    assert refused.value.hint == hint


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "path",
        "LD_AUDIT",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "GIT_SSH",
        "UV_INDEX",
        "https_proxy",
        "HTTP_PROXY",
        "ENV",
    ],
)
def test_a_variable_that_has_programs_run_something_else_is_not_set(name: str) -> None:
    """To whatever value; one that may be left out is not set."""
    with pytest.raises(Invalid, match=f"it sets {name}, "):
        read({**NPM, "environmentVariables": [{"name": name, "isRequired": True}]})
    assert "env" not in read({**NPM, "environmentVariables": [{"name": name}]}).entry
    assert read({**NPM, "environmentVariables": [{"name": f"X{name}", "value": "1"}]}).entry["env"] == {f"X{name}": "1"}


@pytest.mark.parametrize(
    ("package", "options", "refused"),
    [
        ({"registryType": "pypi"}, ["--python", "3.12", "-q"], None),
        ({"registryType": "pypi"}, ["--python=3.12", "--isolated"], None),
        ({"registryType": "pypi"}, ["--python=3.12", "evil"], "uvx evil"),
        ({"registryType": "pypi"}, ["-q", "evil"], "uvx evil"),
        ({}, ["--call", "x"], "npx --call"),
        ({"registryType": "oci"}, ["-v", "/a:/a"], None),
        ({"registryType": "oci"}, ["-v", "/a:/a", "--privileged"], "docker --privileged"),
        ({"registryType": "oci"}, ["--device=/dev/x"], "docker --device=/dev/x"),
    ],
)
def test_before_a_package_only_known_options_stand(
    package: dict[str, Any], options: list[str], refused: str | None
) -> None:
    """With the values of those that have one; of containers all but what lets it out."""
    arguments = [{"type": "positional", "value": option} for option in options]
    if refused is None:
        assert " ".join(options) in line(**package, runtimeArguments=arguments)
        return
    why = "which lets it out of its container" if package.get("registryType") == "oci" else "which could run anything"
    with pytest.raises(Invalid, match=f"it is to be run by `{refused}`, {why}"):
        line(**package, runtimeArguments=arguments)


def test_names_of_variables_are_made_of_the_servers_name() -> None:
    """In capitals, what is no letter or digit as one `_`; never with a digit first."""
    folder = {"type": "positional", "valueHint": "in--folder", "isRequired": True}
    named = {"7-zip": "V_7_ZIP_IN_FOLDER", "a/b.c": "B_C_IN_FOLDER", "@a/B_": "B_IN_FOLDER"}
    for name, variable in named.items():
        found = read({**NPM, "packageArguments": [folder]}, name=name)
        assert [one.name for one in found.variables] == [variable]
