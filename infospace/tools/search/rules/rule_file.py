"""Reading a file of rules: everything that is wrong in it, each in a sentence with its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Final

from infospace.core.errors import Invalid, InvalidJSON, NotFound
from infospace.data.json_text import read_json
from infospace.data.paths import did_you_mean
from infospace.schema.value_text import shown
from infospace.tools.search.rules.language import DEEDS, Conclusion, Fact, Pattern, Rule, RuleSet, Term, is_variable

MOST_RULES: Final = 1_000
MOST_CONDITIONS: Final = 12
LARGEST: Final = 2**20
HIGHEST: Final = 1_000_000
_KEYS: Final = ("name", "when", "unless", "then", "priority")
_TOP: Final = ("rules", "facts", "description")


def read_rules(path: Path) -> RuleSet:
    """Read a file of rules. Raises NotFound, InvalidJSON, and Invalid with all that is wrong in it."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise NotFound(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise InvalidJSON(f"{str(path)!r} cannot be read: {error.strerror}") from None
    root: Any = read_json(data, what=repr(str(path)), max_bytes=LARGEST)
    reader = _Reader()
    rules, facts = reader.file(root)
    if reader.wrong:
        more = f", and {len(reader.wrong) - 5} more" if len(reader.wrong) > 5 else ""
        raise Invalid(f"{str(path)!r}: {'; '.join(reader.wrong[:5])}{more}")
    return RuleSet(rules, facts)


class _Reader:
    def __init__(self) -> None:
        self.wrong: list[str] = []

    def file(self, root: Any) -> tuple[list[Rule], list[Fact]]:
        if not isinstance(root, Mapping) or not isinstance(root.get("rules"), list):
            self.wrong.append('a file of rules is {"rules": [{"name": …, "when": […], "then": […]}]}')
            return [], []
        for key in root:
            if key not in _TOP:
                self._unknown(key, _TOP, "the file")
        value = root.get("facts", [])
        if not isinstance(value, list):
            self.wrong.append(f"`facts` is {shown(value)}, not a list")
            value = []
        facts = [fact for at, one in enumerate(value) if (fact := self._triple(one, f"facts[{at}]", plain=True))]
        if len(root["rules"]) > MOST_RULES:
            self.wrong.append(f"it has {len(root['rules']):,} rules, more than {MOST_RULES:,}")
            return [], facts
        rules: list[Rule] = []
        for at, one in enumerate(root["rules"]):
            rule = self._rule(one, f"rules[{at}]")
            if rule is None:
                continue
            if any(rule.name == other.name for other in rules):
                self.wrong.append(f"rules[{at}]: there is a rule {rule.name!r} already")
            rules.append(rule)
        return rules, facts

    def _rule(self, raw: Any, place: str) -> Rule | None:
        if not isinstance(raw, Mapping):
            self.wrong.append(f"{place} is {shown(raw)}, not an object")
            return None
        before = len(self.wrong)
        for key in raw:
            if key not in _KEYS:
                self._unknown(key, _KEYS, place)
        name = raw.get("name")
        if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > 100:
            self.wrong.append(f"{place}.name is {shown(name)}, not a short text")
        priority = raw.get("priority", 0)
        if not isinstance(priority, int) or isinstance(priority, bool) or abs(priority) > HIGHEST:
            self.wrong.append(f"{place}.priority is {shown(priority)}, not a whole number")
        when = self._triples(raw.get("when", []), f"{place}.when")
        unless = self._triples(raw.get("unless", []), f"{place}.unless")
        bound = {term for pattern in when for term in pattern if is_variable(term)}
        then = self._conclusions(raw.get("then"), f"{place}.then", bound)
        for pattern in unless:
            for term in pattern:
                if is_variable(term) and term != "?" and term not in bound:
                    self.wrong.append(f"{place}.unless has {term!r}, which no pattern of `when` has")
        if len(self.wrong) > before:
            return None
        return Rule(str(name), when, unless, then, priority)

    def _conclusions(self, raw: Any, place: str, bound: set[Term]) -> list[Conclusion]:
        written = raw if isinstance(raw, list) else [raw]
        if not written or raw is None:
            self.wrong.append(f"{place} says nothing: {', '.join(DEEDS)} a tool, or `assert` a fact")
            return []
        results: list[Conclusion] = []
        for at, one in enumerate(written):
            where = f"{place}[{at}]" if isinstance(raw, list) else place
            if not isinstance(one, Mapping) or len(one) != 1:
                self.wrong.append(f'{where} is {shown(one)}, not such as {{"prefer": "?tool"}}')
                continue
            [(deed, value)] = one.items()
            if deed == "assert":
                fact = self._triple(value, f"{where}.assert")
                if fact is not None:
                    self._all_bound(fact, where, bound)
                    results.append(Conclusion(None, fact=fact))
            elif deed not in DEEDS:
                self._unknown(deed, (*DEEDS, "assert"), where)
            elif not isinstance(value, str) or not value:
                self.wrong.append(f"{where}.{deed} is {shown(value)}, not a tool or a variable")
            else:
                self._all_bound((value,), where, bound)
                results.append(Conclusion(deed, value))
        return results

    def _all_bound(self, terms: Sequence[Term], place: str, bound: set[Term]) -> None:
        for term in terms:
            if is_variable(term) and term not in bound:
                self.wrong.append(f"{place} has {term!r}, which no pattern of `when` has")

    def _triples(self, raw: Any, place: str) -> list[Pattern]:
        if not isinstance(raw, list):
            self.wrong.append(f"{place} is {shown(raw)}, not a list")
            return []
        if len(raw) > MOST_CONDITIONS:
            self.wrong.append(f"{place} has {len(raw)} patterns, more than {MOST_CONDITIONS}")
            return []
        return [results for at, one in enumerate(raw) if (results := self._triple(one, f"{place}[{at}]"))]

    def _triple(self, raw: Any, place: str, *, plain: bool = False) -> Pattern | None:
        if not isinstance(raw, list) or len(raw) != 3:
            self.wrong.append(f'{place} is {shown(raw)}, not such as ["?tool", "server", "git"]')
            return None
        for term in raw:
            if not isinstance(term, str | int | float) or (isinstance(term, float) and not isfinite(term)):
                self.wrong.append(f"{place} has {shown(term)}, which is neither a text nor a number nor true or false")
                return None
            if plain and is_variable(term):
                self.wrong.append(f"{place} has the variable {term!r}, and a fact has none")
                return None
        return raw[0], raw[1], raw[2]

    def _unknown(self, key: Any, known_names: Sequence[str], place: str) -> None:
        hint = did_you_mean(str(key), known_names, f"there are {', '.join(known_names)}")
        self.wrong.append(f"{place} has {key!r:.60}: {hint}")
