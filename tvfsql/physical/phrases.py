"""Parts of the sentences about operators: how columns, keys, conditions, orders and windows are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tvfsql.plan import nodes
from tvfsql.plan.joins import EqualPair
from tvfsql.plan.rank import TopN, WindowTopN
from tvfsql.plan.tables.internal_columns import shown
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.values.times import duration
from tvfsql.plan.window import Cumulate, Session, Several, Window

NAMED = 4  # the most columns that a sentence names
LETTERS = 80  # the longest condition that it quotes


def listed(names: Iterable[str]) -> str:
    """`a, b and c`; of many columns the first ones and how many more there are."""
    kept = ["grouping set" if name.startswith("$") else name for name in shown(names)]
    more = len(kept) - NAMED
    parts = kept if more < 2 else [*kept[:NAMED], f"{more} more columns"]
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def per(keys: Iterable[str]) -> str:
    """Of which keys: ` per a and b`."""
    names = listed(keys)
    return f" per {names}" if names else ""


def where(conditions: Sequence[Scalar | EqualPair]) -> str:
    """Under which conditions; of long ones, how many there are."""
    text = " AND ".join(map(str, conditions))
    if not text:
        return ""
    return f" where {text}" if len(text) <= LETTERS else f" for which {counted(len(conditions), 'condition')} hold"


def counted(number: int, noun: str) -> str:
    """A number of things: `1 row`, `2 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def of_slice(window: Window) -> str:
    """How long the slices of a window are."""
    size = getattr(window, "slice_size", None)
    return f" of {duration(size)}" if size else ""


def noun_of(window: Window) -> str:
    """A window with its length."""
    match window:
        case Session():
            return "session"
        case Several():
            return f"window of {listed(name for name, _ in window.windows)}"
        case Cumulate():
            return f"step of {duration(window.step)} in windows of {duration(window.size)}"
    size = getattr(window, "size", None)
    return f"window of {duration(size)}" if size else "window"


def ordered(order: Sequence[nodes.Order]) -> str:
    """By which columns rows are ordered."""
    return f"by {listed(f'{key.scalar} DESC' if key.descending else str(key.scalar) for key in order)}"


def joined(kind: str) -> str:
    """What a join of this kind does with the rows of its inputs."""
    match kind:
        case "semi":
            return "keeps the rows of the first input that have a row in the second one"
        case "anti":
            return "keeps the rows of the first input that have no row in the second one"
        case "left":
            return "keeps all rows of the first input, and joins those of the second one"
        case "right":
            return "keeps all rows of the second input, and joins those of the first one"
        case "full":
            return "keeps all rows of both inputs, and joins those"
        case "cross":
            return "joins each row of one input to each row of the other"
    return "joins the rows of both inputs"


def ranks(node: TopN | WindowTopN) -> str:
    """Which ranks are kept: `1`, or `1 to 10`."""
    return f"{node.first}" if node.first == node.last else f"{node.first} to {node.last}"
