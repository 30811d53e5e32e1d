"""What is secret stands in nothing that is kept, logged or shown: the one place that takes it out.

What is known to be secret is replaced wherever it stands (`hidden`). What only looks so, in a URL or among the
arguments of a command, is found by its place: who logs in, what a query says, what stands behind `--token`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote, unquote

MARK = "•••"
"""What stands in the place of a secret."""
SHORTEST = 4
"""Characters of a value that is hidden, at least: a shorter one stands everywhere."""

_VARIABLE = re.compile(r"\$\{[^}]*\}")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)([^\s/?#]*@)?([^\s?#]*)(\?[^\s#]*)?(#\S*)?")
_NAME = re.compile(
    r"(?:^|[^a-z])(?:key|token|secret|password|passwd|pwd|auth|authorization|credentials?|bearer|pat|apikey)s?"
    r"(?:$|[^a-z])",
    re.IGNORECASE,
)
_PAIR = re.compile(r"(-{0,2}[A-Za-z][\w.-]*)([=:]\s*)(\S.*)", re.DOTALL)
_TOKEN = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_+=-]{24,}")
_PREFIXED = re.compile(r"\b(?:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{8,}")


def hidden(text: str, secrets: Iterable[str]) -> str:
    """Return a text in which the secrets stand no more, nor as they stand in a URL."""
    forms = {form for secret in secrets if len(secret) >= SHORTEST for form in (secret, quote(secret, safe=""))}
    for secret in sorted(forms, key=len, reverse=True):
        text = text.replace(secret, MARK)
    return text


def shown_url(text: str) -> str:
    """Return a text whose URLs say neither who logs in nor the values of their queries; `${VAR}` stays."""

    def plain(match: re.Match[str]) -> str:
        scheme, user, path, query, fragment = (part or "" for part in match.groups())
        login = "" if not user else user if _VARIABLE.fullmatch(user[:-1]) else f"{MARK}@"
        pairs = (pair.partition("=") for pair in query[1:].split("&")) if query else ()
        message = "&".join(f"{name}={_value(value)}" if equals else _value(name) for name, equals, value in pairs)
        return f"{scheme}{login}{path}{f'?{message}' if query else ''}{f'#{_value(fragment[1:])}' if fragment else ''}"

    return _URL.sub(plain, text)


def shown_arguments(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of a command without what is secret in them, as far as its place or its form tells."""
    results: list[str] = []
    before = ""
    for argument in arguments:
        results.append(_value(argument) if _follows(before, argument) else _argument(argument))
        before = argument
    return results


def secrets_in(*texts: str) -> Iterator[str]:
    """Iterate over what `shown_url` takes out of texts: who logs in, and the values of queries."""
    for text in texts:
        for _, user, _, query, fragment in _URL.findall(text):
            yield from _forms(user.removesuffix("@"))
            yield from _forms(user.removesuffix("@").partition(":")[2])
            for pair in query[1:].split("&"):
                yield from _forms(pair.partition("=")[2])
            yield from _forms(fragment[1:])


def secret_arguments(arguments: Sequence[str]) -> Iterator[str]:
    """Iterate over what `shown_arguments` takes out of the arguments of a command."""
    yield from secrets_in(*arguments)
    before = ""
    for argument in arguments:
        pair = _PAIR.fullmatch(argument)
        if _follows(before, argument):
            yield argument
        elif pair is not None and _is_secret(pair[1]):
            yield pair[3]
        yield from _PREFIXED.findall(argument)
        if _TOKEN.fullmatch(argument):
            yield argument
        before = argument


def _forms(value: str) -> Iterator[str]:
    if value:
        yield value
        yield unquote(value)


def _follows(option: str, argument: str) -> bool:
    """Whether an argument is the value of the option before it, and that is one of a secret."""
    return option.startswith("-") and "=" not in option and _is_secret(option) and not argument.startswith("-")


def _is_secret(name: str) -> bool:
    return _NAME.search(re.sub(r"([a-z])([A-Z])", r"\1_\2", name).replace("_", "-")) is not None


def _argument(argument: str) -> str:
    pair = _PAIR.fullmatch(argument)
    if pair is not None and _is_secret(pair[1]):
        return f"{pair[1]}{pair[2]}{_value(pair[3])}"
    message = shown_url(argument)
    return MARK if _TOKEN.fullmatch(message) else _PREFIXED.sub(MARK, message)


def _value(value: str) -> str:
    """Hide a value; one that only names variables says nothing, and stays."""
    return value if not value or _VARIABLE.fullmatch(value) else MARK
