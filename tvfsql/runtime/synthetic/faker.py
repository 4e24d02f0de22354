"""The columns of a faker table, computed from row numbers.

Texts come from pools that are filled once, by the library Faker and from regular expressions. Numbers and times are
drawn for each row.
"""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from re import _constants as ops
from re import _parser
from typing import Any

import pyarrow as pa

from tvfsql.errors import DataError
from tvfsql.plan.synthetic.faker import Between, Made, Method, Moment, Part, Pattern, Rounded, Uuid
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.synthetic.datagen import times
from tvfsql.runtime.synthetic.draws import Draws

POOL = 1000  # texts in a pool
MOST = 10  # the most repetitions of an unbounded pattern
ANY = "abcdefghijklmnopqrstuvwxyz0123456789"
CLASSES = {ops.CATEGORY_DIGIT: "0123456789", ops.CATEGORY_WORD: ANY, ops.CATEGORY_SPACE: " "}


def column(made: Made, draws: Draws, start: int, rate: int, kind: pa.DataType) -> pa.Array:
    """The values of a column for some rows, as the Arrow type `kind`. A row's own time is `start` (epoch ms) plus its
    number at `rate` rows per second."""
    present = draws.unit(f"{made.name}/null") >= made.null_rate
    match made.parts:
        case (Moment() as moment,) if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return times(_moments(moment, made.name, draws, start, rate), kind, present)
    texts = [_texts(part, f"{made.name}/{i}", draws, start, rate) for i, part in enumerate(made.parts)]
    try:
        values = [_value("".join(parts), kind) for parts in zip(*texts, strict=True)]
        return pa.array(values, type=kind, mask=~present)
    except (ValueError, ArithmeticError) as error:
        raise DataError(
            f"the expression of column {made.name} has a value that does not fit the column's type: {error}"
        ) from None


def _value(text: str, kind: pa.DataType) -> object:
    """A text as a value of the Arrow type `kind`."""
    if pa.types.is_string(kind):
        return text
    if pa.types.is_boolean(kind):
        return text.lower() == "true"
    if pa.types.is_floating(kind):
        return float(text)
    if pa.types.is_decimal(kind):
        return Decimal(text).quantize(Decimal(1).scaleb(-kind.scale), ROUND_HALF_UP)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
        return moment.date() if pa.types.is_date(kind) else moment
    return text.encode() if pa.types.is_binary(kind) else int(text)


def _texts(part: Part, name: str, draws: Draws, start: int, rate: int) -> list[str]:
    """The text of a part for each row."""
    match part:
        case str():
            return [part] * len(draws.rows)
        case Between(low, high):
            return [str(value) for value in draws.between(name, low, high - 1).tolist()]
        case Rounded(digits, low, high):
            values = low + draws.unit(name) * (high - low)
            return [f"{value:.{digits}f}" for value in values.tolist()]
        case Uuid():
            hexadecimal = draws.hexadecimal(name, 32).tobytes().decode("ascii")
            rows = (hexadecimal[at : at + 32] for at in range(0, len(hexadecimal), 32))
            return [f"{x[:8]}-{x[8:12]}-4{x[13:16]}-a{x[17:20]}-{x[20:]}" for x in rows]
        case Moment():
            epoch = datetime(1970, 1, 1, tzinfo=UTC)
            moments = _moments(part, name, draws, start, rate).tolist()
            return [f"{epoch + timedelta(milliseconds=ms):%Y-%m-%d %H:%M:%S.%f}"[:-3] for ms in moments]
        case Pattern() | Method():
            pool = _pool(part, draws.seed)
            return [pool[at] for at in draws.below(name, len(pool)).tolist()]
    raise AssertionError(part)


def _moments(moment: Moment, name: str, draws: Draws, start: int, rate: int) -> Ints:
    own: Ints = start + draws.rows * 1000 // rate
    moments: Ints = own + draws.between(name, moment.least, moment.most)
    return moments


@cache
def _pool(part: Pattern | Method, seed: int) -> tuple[str, ...]:
    """The texts to choose from."""
    if isinstance(part, Pattern):
        chance, tree = random.Random(seed), _parser.parse(part.regex)
        return tuple(_matching(tree, chance) for _ in range(POOL))
    try:
        from faker import Faker
    except ImportError:
        raise DataError("the connector faker needs a Python package", hint="pip install 'tvfsql[faker]'") from None
    source = Faker()
    source.seed_instance(seed)
    return tuple(re.sub(r"\s*\n\s*", ", ", str(getattr(source, part.name)())) for _ in range(POOL))


def _matching(tree: Any, chance: random.Random) -> str:
    """A text that a regular expression matches."""
    return "".join(_one(op, argument, chance) for op, argument in tree)


def _one(op: Any, argument: Any, chance: random.Random) -> str:
    match op:
        case ops.LITERAL:
            return chr(argument)
        case ops.ANY:
            return chance.choice(ANY)
        case ops.IN:
            return chance.choice(_members(argument))
        case ops.BRANCH:
            return _matching(chance.choice(argument[1]), chance)
        case ops.SUBPATTERN:
            return _matching(argument[3], chance)
        case ops.MAX_REPEAT | ops.MIN_REPEAT:
            least, most, inner = argument
            times = chance.randint(least, most if most is not ops.MAXREPEAT else max(least, MOST))
            return "".join(_matching(inner, chance) for _ in range(times))
        case ops.AT:
            return ""
        case ops.NOT_LITERAL:
            return chance.choice([char for char in ANY if ord(char) != argument])
    raise DataError(f"regexify does not support {str(op).lower()} in a regular expression")


def _members(parts: Any) -> list[str]:
    """The characters of a character class."""
    found: set[str] = set()
    negated = False
    for op, argument in parts:
        match op:
            case ops.NEGATE:
                negated = True
            case ops.LITERAL:
                found.add(chr(argument))
            case ops.RANGE:
                found |= set(map(chr, range(argument[0], argument[1] + 1)))
            case ops.CATEGORY:
                found |= set(CLASSES.get(argument, ANY))
    return sorted(set(ANY) - found) if negated else sorted(found)
