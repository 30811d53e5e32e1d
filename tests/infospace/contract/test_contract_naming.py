"""A primitive that names its result, and one that may give nothing."""

from __future__ import annotations

import pytest

from infospace import Args, Collection, Context, Note, Ref, primitive


class Naming(Args):
    """Arguments of a verb that names."""

    target: Ref[Note]
    value: str
    replace: bool = False


async def christen(args: Naming, context: Context) -> Note:
    """Name a Note."""
    context.name(args.target, args.value, replace=args.replace)
    return args.target


async def empty(args: Naming, context: Context) -> Collection | None:
    """Give a Collection, or nothing."""
    del args, context
    return None


def test_the_steps_replace_is_an_argument_of_what_names() -> None:
    """Of anything else it is a field of the step, and cannot be one."""
    assert primitive(effect="writes", names="value")(christen).names == "value"
    with pytest.raises(TypeError, match="'replace' is a field of every step"):
        primitive(effect="writes")(christen)


def test_what_may_give_nothing_says_so_in_its_contract() -> None:
    """Beside the kind that it gives otherwise; `out` stays possible."""
    entry = primitive(effect="writes", names="value", result_shape=lambda _arguments, _shapes: None)(empty)
    assert (entry.returns, entry.out, entry.gives({}, {})) == ("Collection or nothing", "optional", None)
