"""When a node of sqlglot's trees is understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

SAME = "same"  # Spark reads it as Flink does

# The allowed values of an argument: anything that is itself understood (None), or these values or kinds of node.
Values = tuple[str, ...] | tuple[type[exp.Expr], ...] | tuple[exp.DType, ...] | None


@dataclass(frozen=True)
class Known:
    """The arguments of a kind of node that are understood. `by` says what gives them their meaning: SAME, or the module
    that rewrites them. An argument that is not listed must not be set.
    """

    arguments: Mapping[str, Values]
    by: str = SAME


Table = Mapping[type[exp.Expr], Known]


def known(arguments: str = "", by: str = SAME, **limited: Values) -> Known:
    """Make a Known. `arguments` are names separated by spaces; `limited` are those that may only have certain
    values.
    """
    return Known({**dict.fromkeys(arguments.split()), **limited}, by)
