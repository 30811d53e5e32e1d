"""Random plans over the vocabulary: mostly sensible, often not, from a seed."""

from __future__ import annotations

import random
from typing import Any

TEXTS = ("alpha", "beta gamma", "3", "", "a long line about attention", "Note_1", "report")
FIELDS = ("title", "n", "tags", "@id", "tags[0]", "titel", "metadata.source_id", "content", "n.x", "@metadata.kind")
GOOD_FIELDS = 5
WHERES = ("n > 1", "title LIKE 'a%'", "n = $num", "has(tags, 'x')", "n IN (1, $num)", "titel = 'x'", "n >", "${x} = 1")
GOOD_WHERES = 5
CONDITIONS = ("equals", "not_equals", "greater_than", "contains", "not_contains", "lte")
PRESENCE = ("bound", "notbound", "has_value", "empty")


class Plans:
    """Makes plans; remembers roughly what is bound, so that many of them are right."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - not for secrets
        self._careful = seed % 4 != 0
        """Whether the plan mostly keeps to what is there."""

    def plan(self) -> Any:
        """Make a plan of 1 to 8 steps."""
        names = {"num": "N"}
        steps = self._block(names, self._random.randint(1, 8), 0)
        plan: dict[str, Any] = {"steps": steps, "inputs": {"num": {"type": "integer", "default": 2}}}
        if self._random.random() < 0.3:
            plan["result"] = self._variable(names, "")
        return plan

    def _block(self, names: dict[str, str], count: int, depth: int) -> list[Any]:
        return [self._step(names, depth) for _ in range(count)]

    def _step(self, names: dict[str, str], depth: int) -> Any:
        r = self._random
        makers = [self._note, self._note, self._collection, self._collection, self._over, self._over, self._alias]
        makers += [self._talk, self._persist]
        if depth < 3:
            makers += [self._if, self._for_each, self._map, self._map]
        step = r.choice(makers)(names, depth)
        if r.random() < 0.25 and step["type"] not in ("for-each", "map"):
            step["on_fail"] = "continue" if r.random() < 0.6 else self._block(dict(names), 1, 3)
        elif r.random() < 0.3 and step["type"] in ("for-each", "map"):
            inner = {**names, "item": "?"}
            step["on_fail"] = "continue" if r.random() < 0.6 else self._block(inner, 1, 3)
        if not self._careful and r.random() < 0.04:
            step[r.choice(("targett", "limit", "value", "retry"))] = 1
        return step

    def _bind(self, step: dict[str, Any], names: dict[str, str], kind: str) -> dict[str, Any]:
        if self._random.random() < 0.9:
            name = self._random.choice(("a", "b", "c", "d", "e", "x", "y", "item"))
            step["out"] = f"${name}"
            names[name] = kind
        return step

    def _variable(self, names: dict[str, str], kind: str) -> str:
        r = self._random
        if r.random() < (0.004 if self._careful else 0.06):
            return r.choice(("$zz", "$a", "Note_999", "nobody", "kept note", "kept list", "$x text", "Note_1"))
        fitting = [name for name, k in names.items() if not kind or k.startswith(kind)]
        loose = [name for name, k in names.items() if "?" in k]
        if self._careful and kind.startswith("C"):
            literal = ["kept list"] if "CO".startswith(kind) else []
            return r.choice(
                [*(f"${name}" for name in fitting), *(f"${name}" for name in loose if r.random() < 0.2)]
                or literal
                or ["$cc"]
            )
        pool = [*fitting, *loose] if fitting and (self._careful or r.random() < 0.9) else list(names)
        return f"${r.choice(pool)}"

    def _value(self, names: dict[str, str], deep: int = 0) -> Any:
        r = self._random
        match r.randint(0, 9):
            case 0:
                return r.choice((1, 2, 3.5, True, None))
            case 1 | 2:
                return r.choice(TEXTS)
            case 3:
                return "x ${" + self._variable(names, "")[1:].split()[0] + "} y"
            case 4:
                if self._careful:
                    objects = [name for name, k in names.items() if k == "NO"]
                    place = r.choice(("", ".title", ".n", ".tags", "@id"[:0], ".@id"))
                    return f"${r.choice(objects)}{place}" if objects else "$num"
                return self._variable(names, "N") + r.choice(("", "", ".title", ".n", "[0]", ".titel"))
            case 5 if deep < 2:
                return [self._value(names, deep + 1) for _ in range(r.randint(0, 3))]
            case _:
                return {"title": r.choice(TEXTS), "n": r.randint(0, 4), "tags": ["x", "y"][: r.randint(0, 2)]}

    def _note(self, names: dict[str, str], _depth: int) -> dict[str, Any]:
        step = {"type": "create-note", "value": self._value(names)}
        if self._random.random() < 0.1:
            step["name"] = self._random.choice(("kept note", "fresh", "fresh two", "${num}", "$num"))
            step["replace"] = self._random.random() < 0.7
        return self._bind(step, names, "NO" if isinstance(step["value"], dict) else "N")

    def _collection(self, names: dict[str, str], _depth: int) -> dict[str, Any]:
        value = [self._value(names, 1) for _ in range(self._random.randint(0, 4))]
        if self._careful and self._random.random() < 0.7:
            item = {"title": "t", "n": 1, "tags": []}
            step = {"type": "create-collection", "value": [dict(item, n=n) for n in range(self._random.randint(0, 4))]}
            return self._bind(step, names, "CO")
        step = {"type": "create-collection", "value": value if self._random.random() < 0.9 else "$num"}
        return self._bind(step, names, "C")

    def _over(self, names: dict[str, str], _depth: int) -> dict[str, Any]:
        step, gives = self._operation(names)
        structured = step["type"] in ("pluck", "sort", "filter-structured")
        step["target"] = self._variable(names, "CO" if structured else "C")
        if gives == "C" and names.get(step["target"][1:]) == "CO" and step["type"] != "pluck":
            gives = "CO"
        return self._bind(step, names, gives)

    def _operation(self, names: dict[str, str]) -> tuple[dict[str, Any], str]:
        r = self._random
        match r.randint(0, 5):
            case 0:
                return {"type": "size"}, "N"
            case 1:
                counts = (1, 2, 0, "$num") if self._careful else (1, -1, "2", self._variable(names, "N"))
                return {"type": "head", "count": r.choice(counts)}, "C"
            case 2:
                return {
                    "type": "flatten",
                    "separator": r.choice(("\n", ", ") if self._careful else (None, "$num")),
                }, "N"
            case 3:
                return {"type": "pluck", "field": r.choice(FIELDS[:GOOD_FIELDS] if self._careful else FIELDS)}, "C"
            case 4:
                return {
                    "type": "filter-structured",
                    "where": r.choice(WHERES[:GOOD_WHERES] if self._careful else WHERES),
                }, "C"
            case _:
                by = r.choice((*(FIELDS[:GOOD_FIELDS] if self._careful else FIELDS), ["n", "title"]))
                return {"type": "sort", "by": by, "order": r.choice(("asc", "desc"))}, "C"

    def _alias(self, names: dict[str, str], _depth: int) -> dict[str, Any]:
        step = {"type": self._random.choice(("bind", "load")), "target": self._variable(names, "")}
        kind = names.get(step["target"][1:], "")
        if not self._careful or kind == "NO":
            step["target"] += self._random.choice(("", "", ".title", ".tags", ".n" if self._careful else "[0]"))
        elif kind[:1] in ("C", "?"):
            step["target"] += self._random.choice(("", "[0]"))
        if step["type"] == "load" and self._random.random() < 0.4:
            step["slice"] = self._random.choice((":1", "-2:") if self._careful else ("x", "$num"))
        return self._bind(step, names, "?" if "[" in step["target"] or "." in step["target"] else kind or "?")

    def _talk(self, names: dict[str, str], _depth: int) -> dict[str, Any]:
        return {"type": self._random.choice(("say", "think")), "value": self._value(names)}

    def _persist(self, names: dict[str, str], _depth: int) -> dict[str, Any]:
        return {"type": "persist", "target": self._variable(names, "")}

    def _condition(self, names: dict[str, str], deep: int = 0) -> Any:
        r = self._random
        if deep < 2 and r.random() < 0.2:
            kind = r.choice(("and", "or", "not"))
            of = [self._condition(names, deep + 1) for _ in range(1 if kind == "not" else 2)]
            return {"type": kind, "of": of}
        target = self._variable(names, "")
        if not self._careful:
            target += r.choice(("", ".title", ".n", "[0]"))
        elif names.get(target[1:]) == "NO":
            target += r.choice(("", ".title", ".n"))
        if r.random() < 0.5:
            return {"type": r.choice(PRESENCE), "target": target}
        return {
            "type": r.choice(CONDITIONS[:2] if self._careful else CONDITIONS),
            "target": target,
            "value": self._value(names),
        }

    def _if(self, names: dict[str, str], depth: int) -> dict[str, Any]:
        then, otherwise = dict(names), dict(names)
        step = {"type": "if", "condition": self._condition(names), "then": self._block(then, 1, depth + 1)}
        if self._random.random() < 0.5:
            step["else"] = self._block(otherwise, self._random.randint(1, 2), depth + 1)
        if self._random.random() < (0.05 if self._careful else 0.3):
            names |= then
        return step

    def _for_each(self, names: dict[str, str], depth: int) -> dict[str, Any]:
        r = self._random
        target = self._variable(names, "C")
        item = "NO" if names.get(target[1:]) == "CO" else "?"
        inner = {**names, "item": item}
        step: dict[str, Any] = {"type": "for-each", "target": target}
        if r.random() < 0.3:
            step["as"] = "$it"
            inner["it"] = inner.pop("item")
        step["do"] = self._block(inner, r.randint(1, 3), depth + 1)
        if r.random() < 0.2:
            step["collect"] = self._variable(inner, "")
        step["filter_null"] = r.random() < 0.6
        return self._bind(step, names, "C")

    def _map(self, names: dict[str, str], _depth: int) -> dict[str, Any]:
        r = self._random
        target = self._variable(names, "C")
        inner = {**names, "item": "NO" if names.get(target[1:]) == "CO" else "?"}
        operation: Any = r.choice(
            (
                {"type": "create-note", "value": self._value(inner)},
                {"type": "bind"},
                {"type": "load", "slice": ":1"} if not self._careful else {"type": "load"},
                "bind",
                "size" if not self._careful or r.random() < 0.1 else "think" if not self._careful else "persist",
                {"type": "say", "value": "${item}"},
                self._operation(inner)[0] if not self._careful else {"type": "create-note", "value": "$item"},
            )
        )
        step = {"type": "map", "target": target, "operation": operation}
        step["filter_null"] = r.random() < 0.6
        return self._bind(step, names, "C")
