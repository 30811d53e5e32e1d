"""The messages of an ONNX file, as much of them as a graph of standard operators needs, in protobuf's wire format.

A message is its fields one after the other: a tag, which is the field's number and how its value is written,
then the value. The numbers and the types are those of `onnx.proto` in the ONNX specification; the fields are
written in the order of their numbers, as protobuf itself does. Written here, because the package `onnx` takes
70 MB with what it needs, for a file that is written once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

FLOAT: Final = 1
INT64: Final = 7
"""Types of elements, in the specification's `TensorProto.DataType`."""

_EXTERNAL = 1  # TensorProto.DataLocation: the values lie in another file
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7  # AttributeProto.AttributeType
_VARINT, _BYTES, _FIXED32 = 0, 2, 5  # how a value is written

Attribute = int | float | Sequence[int]


def node(operator: str, inputs: Iterable[str], output: str, attributes: Mapping[str, Attribute]) -> bytes:
    """Return a NodeProto that is called like its one output."""
    value = b"".join(_bytes(5, _attribute(name, attributes[name])) for name in sorted(attributes))
    return _texts(1, inputs) + _text(2, output) + _text(3, output) + _text(4, operator) + value


def tensor(name: str, kind: int, shape: Sequence[int], values: Sequence[float]) -> bytes:
    """Return a TensorProto of kind INT64 or FLOAT whose few values stand in it."""
    data = _bytes(7, b"".join(map(_varint, map(int, values)))) if kind == INT64 else b""
    floats = _bytes(4, struct.pack(f"<{len(values)}f", *values)) if kind == FLOAT else b""
    return _integers(1, shape) + _integer(2, kind) + floats + data + _text(8, name)


def external_tensor(name: str, shape: Sequence[int], location: Mapping[str, str]) -> bytes:
    """Return a TensorProto of float32 whose values lie in another file: `location`, `offset` and `length` in bytes."""
    where = b"".join(_bytes(13, _text(1, key) + _text(2, value)) for key, value in location.items())
    return _integers(1, shape) + _integer(2, FLOAT) + _text(8, name) + where + _integer(14, _EXTERNAL)


def value_info(name: str, kind: int, shape: Iterable[str | int]) -> bytes:
    """Return a ValueInfoProto, an input or output of a graph; a text in the shape is a size that varies."""
    sizes = [_text(2, size) if isinstance(size, str) else _integer(1, size) for size in shape]
    dimensions = b"".join(_bytes(1, size) for size in sizes)
    return _text(1, name) + _bytes(2, _bytes(1, _integer(1, kind) + _bytes(2, dimensions)))


def graph(name: str, nodes: Iterable[bytes], tensors: Iterable[bytes], inputs: Iterable[bytes], output: bytes) -> bytes:
    """Return a GraphProto; each node comes after those whose outputs it takes."""
    parts = [*((1, item) for item in nodes), (2, name.encode()), *((5, item) for item in tensors)]
    parts += [*((11, item) for item in inputs), (12, output)]
    return b"".join(_bytes(number, part) for number, part in parts)


def model(graph: bytes, *, opset: int, ir_version: int, producer: str) -> bytes:
    """Return a ModelProto, which is the content of a file; `opset` is of the standard operators."""
    operators = _text(1, "") + _integer(2, opset)
    return _integer(1, ir_version) + _text(2, producer) + _bytes(7, graph) + _bytes(8, operators)


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _varint(2 << 3 | _FIXED32) + struct.pack("<f", value) + _integer(20, _ATTRIBUTE_FLOAT)
    if isinstance(value, int):
        return _text(1, name) + _integer(3, value) + _integer(20, _ATTRIBUTE_INT)
    return _text(1, name) + _integers(8, value) + _integer(20, _ATTRIBUTE_INTS)


def _varint(value: int) -> bytes:
    """Seven bits a byte, lowest first; the top bit says that more follow. A negative number is its 64 bits."""
    left, raw = value & 0xFFFF_FFFF_FFFF_FFFF, bytearray()
    while left > 0x7F:
        raw.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*raw, left])


def _integer(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(value)


def _integers(number: int, values: Iterable[int]) -> bytes:
    return b"".join(_integer(number, value) for value in values)


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _texts(number: int, values: Iterable[str]) -> bytes:
    return b"".join(_text(number, value) for value in values)
