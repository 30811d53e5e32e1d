"""The correct plans of `tests/plans`: those with an outcome, and those that are only checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "plans"


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


RIGHT: dict[str, Any] = {
    path.stem: _read(path) for path in sorted(FOLDER.glob("*.json")) if not path.stem.endswith(".outcome")
}
for _path in sorted((FOLDER / "right").glob("*.json")):
    RIGHT |= {f"{_path.stem}: {name}": plan for name, plan in _read(_path).items()}
