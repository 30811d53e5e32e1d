"""The file of rules of a space: `tool-rules.json` beside it, or the file that the environment names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infospace.core.errors import InfospaceError
from infospace.tools.search.rules.rule_file import read_rules

if TYPE_CHECKING:
    from infospace.store.protocol import Store
    from infospace.tools.search.rules.language import RuleSet

FILE: Final = "tool-rules.json"
VARIABLE: Final = "INFOSPACE_TOOL_RULES"


def rules_path(store: Store) -> Path | None:
    """Return where the rules of a space are, whether the file is there or not; None where a space has no folder."""
    name = os.environ.get(VARIABLE)
    if name:
        return Path(name).expanduser().absolute()
    return None if store.derived is None else (store.derived.parent / FILE).absolute()


class RuleSource:
    """Reads the rules of a space, again whenever their file is another one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stamp: tuple[str, int, int] | None = None
        self._rules: RuleSet | None = None
        self.problem: str | None = None
        """Why the file cannot be used, in a sentence; None where it can, or there is none."""

    def rules(self) -> RuleSet | None:
        """Return the rules as they are now, None where there are none or they cannot be used."""
        path = rules_path(self._store)
        stamp = None
        if path is not None:
            try:
                stat = path.stat()
            except OSError:
                stat = None
            if stat is not None or os.environ.get(VARIABLE):
                stamp = (str(path), stat.st_mtime_ns if stat else 0, stat.st_size if stat else 0)
        if stamp != self._stamp:
            self._stamp, self._rules, self.problem = stamp, None, None
            if path is not None and stamp is not None:
                try:
                    self._rules = read_rules(path)
                except InfospaceError as error:
                    self.problem = f"the rules for tools are not used: {error}"
        return self._rules
