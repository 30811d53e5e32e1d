"""Reading a safetensors file: eight bytes for the length of a JSON header, the header, then the numbers as they are.

The header says of each tensor its type, its shape, and from which byte to which it lies after the header. Read
here, because all that is needed is one kind of number from one file whose hash is known.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def open_tensors(path: Path) -> Callable[[str], NDArray[np.float32]]:
    """Return what gives a tensor of float32 by its name, read-only and mapped: only what is looked at is read.

    Raises OSError when the file cannot be read, ValueError when it is no such file; what is returned raises
    ValueError for a tensor that is not there, of another type, or not as long as its shape says.
    """
    import numpy as np

    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        whole = 0 < length < path.stat().st_size
        header = json.loads(file.read(length)) if whole else None
    if not header:
        raise ValueError(f"{path.name} is not a safetensors file")
    data = np.memmap(path, mode="r", dtype=np.uint8, offset=8 + length)

    def tensor(name: str) -> NDArray[np.float32]:
        try:
            value = header[name]
            start, end = value["data_offsets"]
            if value["dtype"] != "F32":
                raise ValueError(f"the tensor {name!r} of {path.name} is {value['dtype']}, and should be F32")
            return data[start:end].view("<f4").reshape(value["shape"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path.name} has no tensor {name!r}") from error

    return tensor
