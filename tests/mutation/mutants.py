"""The single faults that can be planted in a file, as mutmut's operators and ours make them."""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeGuard

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutation import operators
from mutmut.mutation.file_mutation import Mutation, MutationVisitor
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode

operators.install()


class _Places(MutationVisitor):
    """Finds the mutants of a module, and the line at which each one's node begins.

    Functions that are decorated are mutated as well: a mutant is a whole file here, and no copy of a function.
    """

    def __init__(self) -> None:
        super().__init__(mutation_operators, IgnoredCode(set(), set(), set()))
        self.lines: list[int] = []
        self._types: list[cst.Arg] = []
        """What `cast` is given as a type, an annotation like any other."""

    def _create_mutations(self, node: cst.CSTNode) -> None:
        super()._create_mutations(node)
        if len(self.mutations) > len(self.lines):  # some nodes that have none, such as whitespace, have no position
            line = self.get_metadata(PositionProvider, node).start.line
            self.lines += [line] * (len(self.mutations) - len(self.lines))

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        if _is_cast(node):
            self._types.append(node.args[0])
        if any(node is one for one in self._types):
            return True
        bare = node.with_changes(decorators=()) if isinstance(node, cst.FunctionDef) else node
        return bool(super()._skip_node_and_children(bare))


@dataclass(frozen=True)
class Place:
    """Where a fault can be planted: the number of a mutant in its file, and the lines of the statement it changes."""

    file: str
    number: int
    lines: range


class MutableFile:
    """A file of the code, with the faults that can be planted in it."""

    def __init__(self, root: Path, file: str) -> None:
        self.file = file
        self.text = (root / file).read_text(encoding="utf-8")

    @cached_property
    def _module_and_mutations(self) -> tuple[cst.Module, list[Mutation], list[int]]:
        places = _Places()
        wrapper = MetadataWrapper(cst.parse_module(self.text))
        wrapper.visit(places)
        return wrapper.module, places.mutations, places.lines

    def places(self) -> Iterator[Place]:
        """Yield the places within functions: what stands outside of them is run when it is imported, by no test."""
        statements = _statements(self.text)
        _, mutations, lines = self._module_and_mutations
        for number, (mutation, line) in enumerate(zip(mutations, lines, strict=True)):
            if mutation.contained_by_top_level_function is not None and not _changes_type(mutation):
                around = [lines for lines in statements if line in lines]
                yield Place(self.file, number, min(around, key=len, default=range(line, line + 1)))

    def planted(self, number: int) -> Planted:
        """Return the file with that fault in it."""
        module, mutations, _ = self._module_and_mutations
        mutation = mutations[number]
        changed = module.deep_replace(mutation.original_node, mutation.mutated_node)
        assert isinstance(changed, cst.Module)
        return Planted(self.file, self.text, changed.code)


@dataclass(frozen=True)
class Planted:
    """A file before and after a fault was planted."""

    file: str
    before: str
    after: str

    @cached_property
    def key(self) -> str:
        """What this fault is called as long as the file is the same."""
        return hashlib.sha256(f"{self.file}\0{self.after}".encode()).hexdigest()

    @cached_property
    def difference(self) -> list[str]:
        """The lines that are taken out and put in."""
        rows = difflib.unified_diff(self.before.split("\n"), self.after.split("\n"), n=0, lineterm="")
        return [row for row in rows if row.startswith(("+", "-")) and row[:3] not in ("+++", "---")]

    @cached_property
    def line(self) -> int:
        """The first line that is another one."""
        pairs = zip(self.before.split("\n"), self.after.split("\n"), strict=False)
        return next((number for number, (before, after) in enumerate(pairs, 1) if before != after), 1)

    @property
    def signature(self) -> str:
        """How `equivalent.txt` names a fault: by its file and change, which outlive its number."""
        return f"{self.file} | " + " | ".join(" ".join(row.split()) for row in self.difference)


def _is_cast(node: cst.CSTNode) -> TypeGuard[cst.Call]:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "cast"


def _changes_type(mutation: Mutation) -> bool:
    """Whether it is the type of a `cast` that is another one, which nothing reads."""
    before, after = mutation.original_node, mutation.mutated_node
    return _is_cast(before) and _is_cast(after) and not after.args[0].deep_equals(before.args[0])


def _statements(text: str) -> list[range]:
    """Return the lines of each statement; of one with a body, those before its body."""
    ranges = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = max(node.lineno, body[0].lineno - 1) if isinstance(body, list) and body else node.end_lineno
            ranges.append(range(node.lineno, (end or node.lineno) + 1))
    return ranges
