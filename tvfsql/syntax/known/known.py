"""What it takes for a node of sqlglot's trees to be understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

SAME = "same"  # Spark reads it as Flink does

# What an argument may be: anything that is itself understood (None), or one of these values or kinds of node.
Values = tuple[str, ...] | tuple[type[exp.Expr], ...] | tuple[exp.DType, ...] | None


@dataclass(frozen=True)
class Known:
    """The arguments of a kind of node that are understood. `by` is who gives them their meaning: SAME, or the module
    that puts it in other words. An argument that is not here may not be set."""

    arguments: Mapping[str, Values]
    by: str = SAME


Table = Mapping[type[exp.Expr], Known]


def known(arguments: str = "", by: str = SAME, **limited: Values) -> Known:
    """`arguments` are names between spaces; `limited` are those that may only have certain values."""
    return Known({**dict.fromkeys(arguments.split()), **limited}, by)
