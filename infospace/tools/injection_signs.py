"""What servers say of themselves is untrusted text: it is shown as theirs, and told where it instructs the model."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from infospace.core.regex import compile_pattern

if TYPE_CHECKING:
    from infospace.core.tool import Tool

_SIGNS: Final[Mapping[str, str]] = {
    "asks to ignore or override other instructions": (
        r"(?i)\b(ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(previous|prior|above|earlier|other|all|any"
        r"|system|your)\b[^.\n]{0,30}\b(instructions?|prompts?|rules|guidelines|messages|tools)\b"
    ),
    "asks to hide something from the user": (
        r"(?i)(\b(do not|don't|never|without)\b[^.\n]{0,20}\b(tell|telling|mention|mentioning|inform|informing|notify"
        r"|notifying|show|showing|reveal|revealing)\b[^.\n]{0,30}\b(user|human|anyone|them)\b"
        r"|\b(secretly|silently)\s+(call|send|read|run|execute|include|copy|upload|pass)\b)"
    ),
    "speaks of the model's own prompt": (
        r"(?i)(\b(your|the)\s+(system|developer)\s+(prompt|message|instructions?)\b|\byou are now\b)"
    ),
    "says that it must be called before or instead of others": (
        r"(?i)(\b(must|always|should|have to|need to|required to)\b[^.\n]{0,30}\b(call|use|invoke|run|read)\b[^.\n]"
        r"{0,40}\b(before|prior to|instead of)\b[^.\n]{0,30}\b(any|other|another|every|all|each)\b"
        r"|\b(before|prior to)\s+(using|calling|invoking|running)\b[^.\n]{0,20}\b(any|other|another|all|every)\b[^.\n]"
        r"{0,20}\btools?\b)"
    ),
    "marks part of itself as instructions": (
        r"(?i)(</?\s*(important|system|instructions?|admin|secret|override|hidden)\s*>|\[(system|inst|admin)\]"
        r"|<\|[a-z_]+\|>)"
    ),
    "asks for secrets or private files": (
        r"(?i)\b(read|include|send|pass|copy|attach|upload)\b[^.\n]{0,50}(~/\.ssh|id_rsa|\.env\b|api[ _-]?keys?\b"
        r"|credentials\b|passwords?\b|access tokens?\b|conversation history|mcp\.json)"
    ),
}
"""What instructs the model, and the pattern by which it is seen. A sign is no proof, and none no acquittal."""

_HIDDEN: Final = "holds characters that nobody sees"
_JOINERS: Final = "\u200c\u200d"
"""Format characters that scripts and pictures need."""


def injection_signs(tool: Tool) -> list[str]:
    """Return in what way the text of a tool instructs the model, or hides something; none of one of the space itself.

    Read are its name, title and description, and all texts of its schemas.
    """
    if tool.integration == "local":
        return []
    texts = [tool.name, tool.title, tool.description, *_texts(tool.input_schema), *_texts(tool.output_schema)]
    return signs_of("\n".join(texts))


def signs_of(text: str) -> list[str]:
    """Return in what way a text instructs whoever reads it, or hides something."""
    results = [message for message, pattern in _SIGNS.items() if compile_pattern(pattern).search(text) is not None]
    return [*results, _HIDDEN] if not text.isascii() and any(map(_is_hidden, text)) else results


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for key, inner in value.items():
                yield str(key)
                yield from _texts(inner)
        case list() | tuple():
            for inner in value:
                yield from _texts(inner)


def _is_hidden(character: str) -> bool:
    category = unicodedata.category(character)
    return (category in ("Cf", "Co") and character not in _JOINERS) or 0xE0000 <= ord(character) <= 0xE01EF
