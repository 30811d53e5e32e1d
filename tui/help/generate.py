"""Writes the page about the vocabulary from the contracts: `python -m tui.help.generate`."""

from __future__ import annotations

from pathlib import Path


def vocabulary() -> str:
    """Return the help page `vocabulary`, as Markdown."""
    from infospace.contract.catalogue import installed
    from infospace.contract.docs import effect_label
    from planner.parse.control_flow import FORMS
    from planner.parse.vocabulary import form_line

    rows = [f"| `{entry.type}` | {effect_label(entry)} | {entry.returns} | {entry.summary} |" for entry in installed()]
    return "\n".join(
        [
            "# Vocabulary",
            "",
            (
                "`infospace primitives NAME` shows a contract: arguments, result, failures, examples. "
                "`infospace primitives --markdown` prints the language for a prompt, `--json` its grammar as "
                "JSON Schema. This page is generated from the contracts."
            ),
            "",
            "## Primitives",
            "",
            "| type | effect | gives | what it does |",
            "|---|---|---|---|",
            *rows,
            "",
            "## Control forms",
            "",
            *(form_line(name) for name in FORMS),
            "",
        ]
    )


if __name__ == "__main__":
    Path(__file__).with_name("vocabulary.md").write_text(vocabulary(), encoding="utf-8")
