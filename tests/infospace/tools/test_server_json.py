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
        (
            {"packageArguments": [{"type": "named", "name": "--port", "valueHint": "p", "isRequired": True}]},
            "npx -y w@1 --port '${IT_PORT}'",
        ),
        ({"packageArguments": [{"type": "named", "name": "--port", "valueHint": "p"}]}, "npx -y w@1"),
        ({"packageArguments": [{"type": "named", "name": "--port", "choices": ["1"]}]}, "npx -y w@1"),
        ({"packageArguments": [{"type": "named", "name": "--on", "value": False}]}, "npx -y w@1 --on false"),
        ({"packageArguments": [{"type": "named", "name": "--on", "value": "", "default": 0}]}, "npx -y w@1 --on 0"),
        ({"packageArguments": [{"type": "named", "name": "--on", "value": 1, "default": 2}]}, "npx -y w@1 --on 1"),
        (
            {"packageArguments": [{"type": "positional", "valueHint": "--", "isRequired": True}]},
            "npx -y w@1 '${IT_V_}'",
        ),
        ({"package_arguments": [{"type": "positional", "value": "old"}], "registry_type": "pypi"}, "npx -y w@1 old"),
        ({"transport": {"type": "stdio"}}, "npx -y w@1"),
        ({"transport": "sse"}, "npx -y w@1"),
        ({"runtimeHint": "npx"}, "npx -y w@1"),
        ({"runtimeArguments": [{"type": "named", "name": "-y"}, {"type": "named", "name": "-q"}]}, "npx -y -q w@1"),
        ({"registryType": "pypi", "packageArguments": [{"type": "positional", "value": "x"}]}, "uvx w@1 x"),
        ({"registryType": "nuget", "runtimeArguments": [{"type": "named", "name": "--yes"}]}, "dnx w@1 --yes"),
        (
            {
                "registryType": "oci",
                "identifier": "a/b",
                "runtimeArguments": [{"type": "named", "name": "-i"}, {"type": "named", "name": "-t"}],
                "packageArguments": [{"type": "positional", "value": "x"}],
                "environmentVariables": [{"name": "A", "value": "b"}, {"name": "B", "isRequired": True}, {"name": "C"}],
            },
            "docker run --rm -e A -e B -i -t a/b:1 x",
        ),
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
            {"environmentVariables": [{"name": "a b", "value": "x"}, {"name": "B"}]},
            "'a b' cannot be the name of a variable",
            None,
        ),
        ({"environmentVariables": [3]}, "3 cannot be the name of a variable", None),
        ({"environmentVariables": [{}]}, "it has no `name`", None),
        ({"environmentVariables": [{"name": " "}]}, "its `name` is empty", None),
        ({"environmentVariables": {}}, "its `environmentVariables` is {}, not a list", None),
        (
            {"environmentVariables": [{"name": "A", "value": "v", "isSecret": True}]},
            "the variable A is a secret whose value it gives itself",
            None,
        ),
        ({"environmentVariables": [{"name": "A", "isSecret": "x"}]}, 'its `isSecret` is "x", not true or false', None),
        ({"environmentVariables": [{"name": "A", "description": 1}]}, "its `description` is 1, not a text", None),
        ({"registryType": None}, "it has no `registryType`", None),
        ({"registryType": ""}, "its `registryType` is empty", None),
        ({"identifier": None}, "it has no `identifier`", None),
        ({"identifier": " "}, "its `identifier` is empty", None),
        ({"identifier": "A b"}, "'A b' cannot be the name of a package of npm", None),
        ({"identifier": "\n"}, "its `identifier` holds characters that cannot be shown: '\\n'", None),
        ({"version": "^1"}, "'^1' cannot be the version of a package", None),
        (
            {"transport": {"type": "sse"}},
            "its package speaks 'sse' once it runs, and only stdio is started here",
            None,
        ),
        (
            {"fileSha256": "0" * 64},
            (
                "it gives the checksum of a file for a package of npm, whose file its runner fetches by itself, so "
                "that the checksum cannot be enforced"
            ),
            None,
        ),
        ({"registryType": "mcpb"}, "its bundle (mcpb) has no `fileSha256`, without which it is not fetched", None),
        (
            {"registryType": "mcpb", "identifier": "ftp://x", "fileSha256": "0" * 64},
            "the address of its bundle is 'ftp://x'",
            "https://… without a name or a password in it",
        ),
        ({"packageArguments": [{}]}, "it has no `type`", None),
        ({"packageArguments": [{"type": "named"}]}, "it has no `name`", None),
        (
            {"packageArguments": [{"type": "named", "name": "--key", "value": "v", "isSecret": True}]},
            "the argument --key is a secret whose value it gives itself",
            None,
        ),
        (
            {"packageArguments": [{"type": "positional", "valueHint": "key", "value": "v", "isSecret": True}]},
            "the argument key is a secret whose value it gives itself",
            None,
        ),
        (
            {"runtimeArguments": [{"type": "named", "name": "--call", "value": "x"}]},
            "it is to be run by `npx --call`, which could run anything",
            "-y, --yes, -q, --quiet, --prefer-offline",
        ),
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
        ({"url": None}, "it has no `url`", None),
        ({"url": "https:///x"}, "its URL is 'https:///x'", "https://… without a name or a password in it"),
        ({"url": "https://u@x.org"}, "its URL is 'https://u@x.org'", "https://… without a name or a password in it"),
        (
            {"url": "https://10.0.0.1/"},
            "its URL is 'https://10.0.0.1/', which is this machine or one of a private network",
            None,
        ),
        ({"headers": [3]}, "3 cannot be the name of a header", None),
        ({"headers": [{}]}, "it has no `name`", None),
        ({"headers": [{"name": "A", "value": []}]}, "its `value` is [], not a text", None),
        ({"headers": [{"name": "A", "value": "{b}", "variables": 3}]}, "its `variables` are 3, not an object", None),
        (
            {"url": "https://x.org/{a}{b}", "variables": {"a": {"value": "$"}, "b": {"value": "{ "}}},
            "values of it make `${` together, which would put a variable of the environment there",
            None,
        ),
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


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([], "it is [], not an object"),
        ({}, "it has no `name`"),
        ({"name": ""}, "its `name` is empty"),
        ({"name": "a/it", "packages": 3}, "its `packages` is 3, not a list"),
        ({"name": "a/it", "packages": [3]}, "a package of it is 3, not an object"),
        ({"name": "a/it", "remotes": [3]}, "a remote of it is 3, not an object"),
        ({"name": "a/it", "remotes": [{}]}, "it has no `transportType`"),
        ({"name": "a/it", "packages": [NPM] * 101}, "its `packages` has 101 items, more than 100"),
        (
            {"name": "a/it", "packages": [NPM], "title": "t" * 2_001},
            "its `title` has 2,001 characters, more than 2,000",
        ),
        ({"name": "a/it", "packages": [NPM], "title": True}, "its `title` is true, not a text"),
        ({"name": "a/it", "packages": [NPM], "title": 3}, "its `title` is 3, not a text"),
        (
            {"name": "a/it", "packages": [NPM], "version": "${A}"},
            "its `version` holds `${`, which would put a variable",
        ),
        (
            {"name": "a/it", "packages": [NPM], "description": "d" * 1_000_001},
            "its `description` has 1,000,001 characters, more than 1,000,000",
        ),
    ],
)
def test_an_entry_that_is_refused_says_why(raw: Any, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_server(raw)
    assert refused.value.message.startswith(message)


def test_an_entry_may_have_as_much_as_is_read() -> None:
    """To the last character, and the last package; of a description the beginning is kept."""
    found = read(*[NPM] * 100, title="t" * 2_000, description="d\n" * 500_000, version="")
    assert (found.title, len(found.description)) == ("t" * 2_000, 1_999)
    assert (found.description[:4], found.description[-34:]) == ("d d ", "… [cut: 999,999 characters in all]")
    url = "https://x.org/" + "a" * 1_986
    assert remote(url=url).entry == {"url": url}
    raw = {"name": "w", "version": "1", "keywords": [f"k{number}" for number in range(100)]}
    assert read_npm_package({**raw, "description": "d" * 1_000_000}, None).tags == tuple(raw["keywords"])
    for odd, why in (
        ({"keywords": ["k"] * 101}, "its `keywords` has 101 items, more than 100"),
        ({"description": "d" * 1_000_001}, "its `description` has 1,000,001 characters, more than 1,000,000"),
        ({"version": " "}, "its `version` is empty"),
        ({"name": " "}, "its `name` is empty"),
    ):
        with pytest.raises(Invalid) as refused:
            read_npm_package({**raw, **odd}, None)
        assert refused.value.message == why


@pytest.mark.parametrize(
    ("members", "version"),
    [
        ({"version": "1", "versionDetail": {"version": "2"}}, "1"),
        ({"versionDetail": {"version": "2"}}, "2"),
        ({"version_detail": {"version": "2"}}, "2"),
        ({"version": "", "versionDetail": {}}, ""),
        ({"versionDetail": "2"}, ""),
    ],
)
def test_the_version_of_a_server_stands_in_one_of_two_places(members: dict[str, Any], version: str) -> None:
    assert read(NPM, **members).version == version


def test_packages_come_before_what_is_behind_a_url() -> None:
    """Each is read for itself: what another one needs is not asked for."""
    behind = {"type": "streamable-http", "url": "https://x.org/{key}", "variables": {"key": {}}}
    needs = {**NPM, "version": "^1", "environmentVariables": [{"name": "A", "isRequired": True}, {"name": "B"}]}
    assert read(NPM, remotes=[behind]).package == "w"
    found = read({**needs, "runtimeHint": "bash"}, remotes=[behind])
    assert ([one.name for one in found.variables], found.optional) == (["IT_KEY"], ())
    odd = {**behind, "headers": [{"name": "A", "isRequired": True}, {"name": "a b"}]}
    assert [one.name for one in read(remotes=[odd, behind]).variables] == ["IT_KEY"]
    late = {**NPM, "environmentVariables": [{"name": "A", "isRequired": True}, {"name": "B"}, {"name": "a b"}]}
    assert (read(late, NPM).variables, read(late, NPM).optional) == ((), ())


def test_a_registry_on_this_machine_may_name_what_is_on_it() -> None:
    """Also without encryption; and a bundle has the checksum that is given, in small letters."""
    there = {"name": "a/it", "remotes": [{"type": "streamable-http", "url": "http://localhost:80/"}]}
    assert read_server(there, local=True).launch == "http://localhost:80/"
    bundle = {"registryType": "mcpb", "identifier": "http://127.0.0.1/a.mcpb", "fileSha256": "AB" * 32}
    found = read_server({"name": "a/it", "packages": [bundle]}, local=True)
    assert found.checksum == Checksum("file", "http://127.0.0.1/a.mcpb", "ab" * 32)
    assert (found.package, found.entry) == (
        "http://127.0.0.1/a.mcpb",
        {"command": "mcpb", "args": ["http://127.0.0.1/a.mcpb"]},
    )
    for url in ("http://x.org/a", "https://10.0.0.1/a"):
        with pytest.raises(Invalid, match="the address of its bundle is '"):
            read({**bundle, "identifier": url})


def test_a_variable_that_is_named_twice_is_asked_for_once() -> None:
    """By what is said first, of which three hundred characters are kept; a value stands before its default."""
    twice = [
        {"name": "A", "description": "d" * 301, "isRequired": True, "isSecret": True},
        {"name": "A", "description": "other", "isRequired": True},
        {"name": "B", "description": "b" * 301},
        {"name": "B", "description": "other", "isSecret": True},
    ]
    found = read({**NPM, "environmentVariables": twice})
    assert list(found.variables) == [Variable("A", "d" * 300, secret=True)]
    assert list(found.optional) == [Variable("B", "b" * 300, secret=False)]
    behind = remote(
        url="https://x.org/{a}/{b}/{c}/{d}",
        variables={"a": {"value": "1", "default": "2"}, "b": {"value": "", "default": 3}, "c": {}, "d": "odd"},
        headers=[
            {"name": "A", "value": "{c}", "variables": {"c": {"description": "other"}}},
            {"name": "B", "value": ""},
        ],
    )
    assert behind.entry == {"url": "https://x.org/1/3/${IT_C}/{d}", "headers": {"A": "${IT_C}"}}
    assert list(behind.variables) == [Variable("IT_C", "", secret=False)]
    secret = remote(headers=[{"name": "A", "isRequired": True, "isSecret": True, "description": "d" * 301}])
    assert list(secret.variables) == [Variable("IT_A", "d" * 300, secret=True)]


def test_a_member_is_read_as_it_is_spelt_now_before_it_is_as_earlier_forms_spelt_it() -> None:
    old: dict[str, Any] = {
        "registry_type": "pypi",
        "identifier": "w",
        "version": "1",
        "runtime_hint": "uvx",
        "file_sha256": "",
    }
    old |= {"environment_variables": [{"name": "A", "is_required": True}]}
    found = read(old)
    assert (found.launch, [one.name for one in found.variables]) == ("uvx w@1", ["A"])
    assert read({**old, "registryType": "npm", "runtimeHint": None}).launch == "npx -y w@1"
