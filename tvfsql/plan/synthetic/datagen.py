"""The columns of a datagen table and their values, as the options of its WITH clause define them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tvfsql.errors import BindError, Span
from tvfsql.plan.node import Field
from tvfsql.plan.synthetic.tables import PER_SECOND, START
from tvfsql.plan.tables.options import TableOptions
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

RANDOM, SEQUENCE = "random", "sequence"
DIGITS = 18  # an unscaled DECIMAL is generated as a 64-bit integer
INTEGER_BITS = {types.TINYINT: 8, types.SMALLINT: 16, types.INT: 32, types.BIGINT: 64}


@dataclass(frozen=True)
class Counted:
    """The sequence `start`, `start` + 1 and so on."""

    start: int


@dataclass(frozen=True)
class Uniform:
    """Uniformly distributed numbers from `low` to `high`; for a DECIMAL in units of its last digit."""

    low: int | float
    high: int | float


@dataclass(frozen=True)
class Digits:
    """Hexadecimal text of `length` characters, or `length` bytes for a binary type."""

    length: int


@dataclass(frozen=True)
class Times:
    """Times that start at `start` (epoch ms) and grow by `step` ms every `rows` rows, evenly; each is set back by a
    random delay of less than `past` ms.
    """

    start: int
    step: int
    rows: int
    past: int


Values = Counted | Uniform | Digits | Times


@dataclass(frozen=True)
class Made:
    """A column of datagen: the values that it gets, and the share of its rows (0 to 1) that are NULL instead."""

    name: str
    type: SqlType
    values: Values
    null_rate: float


def datagen(
    options: TableOptions, fields: Sequence[Field], places: Mapping[str, Span] | None = None
) -> tuple[Made, ...]:
    """Return the columns of a datagen table. `places` are the spans of the column names.

    Raises BindError for a type that datagen cannot generate, or for a bad option.
    """
    made = []
    for field in fields:
        key = f"fields.{field.name}"
        rate = options.number(f"{key}.null-rate", Decimal(0))
        if not 0 <= rate <= 1:
            raise options.error(f"{key}.null-rate", "must be from 0 to 1", f"'{key}.null-rate' = '0.1'")
        values = _values(options, key, field, (places or {}).get(field.name))
        made.append(Made(field.name, field.type, values, float(rate)))
    return tuple(made)


def _values(options: TableOptions, key: str, field: Field, place: Span | None) -> Values:
    kind = field.type
    counted = options.word(f"{key}.kind", (RANDOM, SEQUENCE), RANDOM) == SEQUENCE
    if types.is_time(kind) or kind == types.DATE:
        start, past = options.time(f"{key}.start", START), options.duration(f"{key}.max-past", "0 s")
        if not counted:  # the clock of a stream that starts then
            return Times(start, 1000, options.whole("rows-per-second", PER_SECOND, least=1), past)
        return Times(start, options.duration(f"{key}.step", "1 d" if kind == types.DATE else "1 s"), 1, past)
    if counted and (types.is_integer(kind) or types.is_float(kind) or types.is_decimal(kind) or kind == types.STRING):
        return _counted(options, key, kind)
    if kind in (types.STRING, types.BYTES) and not counted:
        return Digits(options.whole(f"{key}.length", 100, least=0, most=1_000_000))
    if kind == types.BOOLEAN and not counted:
        return Uniform(0, 1)
    if types.is_integer(kind):
        most = 2 ** (INTEGER_BITS[kind] - 1)
        low = options.whole(f"{key}.min", -most, least=-most, most=most - 1)
        high = options.whole(f"{key}.max", most - 1, least=-most, most=most - 1)
        return _ordered(options, key, low, high)
    if types.is_float(kind):
        least, greatest = (options.number(f"{key}.{end}", Decimal(value)) for end, value in (("min", 0), ("max", 1)))
        return _ordered(options, key, float(least), float(greatest))
    if types.is_decimal(kind):
        return _ordered(options, key, *(_unscaled(options, f"{key}.{end}", kind) for end in ("min", "max")))
    how = f"a sequence of {kind.flink}" if counted else f"values of type {kind.flink}"
    raise BindError(
        f"datagen cannot generate {how} for column {field.name}",
        span=place,
        hint=f"'{key}.kind' = 'random'" if counted else f"leave out {field.name}",
    )


def _counted(options: TableOptions, key: str, kind: SqlType) -> Counted:
    most = 2 ** (INTEGER_BITS.get(kind, 64) - 1) - 1
    if types.is_decimal(kind):
        most = 10 ** max(min(_whole_digits(kind), DIGITS - types.scale_of(kind)), 0) - 1
    start, end = (options.whole(f"{key}.{word}", least=-most, most=most) for word in ("start", "end"))
    if end < start:
        raise options.error(f"{key}.end", f"is less than {key}.start", f"'{key}.end' = '{start + 999}'")
    return Counted(start)


def _ordered(options: TableOptions, key: str, low: int | float, high: int | float) -> Uniform:
    if low > high:
        raise options.error(f"{key}.max", f"is less than {key}.min", f"swap {key}.min and {key}.max")
    return Uniform(low, high)


def _unscaled(options: TableOptions, key: str, kind: SqlType) -> int:
    """Read a bound of a DECIMAL, in units of its last digit; by default the largest that 18 digits hold."""
    scale = types.scale_of(kind)
    widest = Decimal(10 ** min(_whole_digits(kind) + scale, DIGITS) - 1).scaleb(-scale)
    bound = options.number(key, -widest if key.endswith("min") else widest)
    if abs(bound) > widest:
        raise options.error(key, f"has more than {DIGITS} digits", f"'{key}' = '{widest:f}'")
    return int(bound.scaleb(scale))


def _whole_digits(kind: SqlType) -> int:
    """The number of digits before the point of a DECIMAL."""
    assert isinstance(kind, types.Decimal), kind
    return kind.precision - kind.scale
