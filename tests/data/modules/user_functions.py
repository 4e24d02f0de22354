"""Functions that test cases call: valid ones, and ones that SQL cannot call or that fail."""

from __future__ import annotations

import re
from statistics import median
from typing import Any

import pandas as pd
import pyarrow as pa

from tvfsql.functions import returns

not_a_function = 42


@returns("DOUBLE")
class WeightedAvg:
    """The result for exact numbers is exact, in whatever order rows arrive."""

    def create_accumulator(self) -> list[Any]:
        return [0, 0]

    def accumulate(self, accumulator: list[Any], value: Any, weight: Any) -> None:
        if value is not None and weight is not None:
            accumulator[0] += value * weight
            accumulator[1] += weight

    def merge(self, accumulator: list[Any], accumulators: list[list[Any]]) -> None:
        for total, weight in accumulators:
            accumulator[0] += total
            accumulator[1] += weight

    def get_value(self, accumulator: list[Any]) -> Any:
        return accumulator[0] / accumulator[1] if accumulator[1] else None


@returns("STRING")
class Seen:
    """All rows with their NULLs, sorted, so that a lost or repeated row shows. Its accumulators are nested."""

    def create_accumulator(self) -> dict[str, list[Any]]:
        return {"rows": []}

    def accumulate(self, accumulator: dict[str, list[Any]], *values: Any) -> None:
        accumulator["rows"].append(values)

    def merge(self, accumulator: dict[str, list[Any]], accumulators: list[dict[str, list[Any]]]) -> None:
        for other in accumulators:
            if accumulator["rows"]:
                accumulator["rows"] += other["rows"]
            else:
                accumulator["rows"] = other["rows"]  # the list itself: it must not be anyone else's

    def get_value(self, accumulator: dict[str, list[Any]]) -> str:
        return repr(sorted(accumulator["rows"], key=repr))


class Median:
    """It cannot be merged."""

    def create_accumulator(self) -> list[float]:
        return []

    def accumulate(self, accumulator: list[float], value: float | None) -> None:
        if value is not None:
            accumulator.append(value)

    def get_value(self, accumulator: list[float]) -> float | None:
        return float(median(accumulator)) if accumulator else None


def initials(name: str | None, separator: str = "") -> str | None:
    return separator.join(word[0] for word in re.findall(r"\w+", name)) if name else None


class Doubled:
    """A class that is instantiated once per task."""

    def eval(self, value: int | None) -> int | None:
        return None if value is None else 2 * value


@returns("BIGINT", deterministic=False)
def drawn(least: int, most: int) -> int:
    import random

    return random.randint(least, most)


def plus_one(value: int) -> int:
    return value + 1  # no NULL comes here, it thinks


def only_some(value: int) -> int:
    if value not in (2, 3):
        raise ValueError(f"the filter drops {value}")
    return value


class MeanOfSome:
    """Has no value without rows."""

    def create_accumulator(self) -> list[float]:
        return [0, 0]

    def accumulate(self, accumulator: list[float], value: float) -> None:
        accumulator[0] += value
        accumulator[1] += 1

    def merge(self, accumulator: list[float], accumulators: list[list[float]]) -> None:
        for total, count in accumulators:
            accumulator[0] += total
            accumulator[1] += count

    def get_value(self, accumulator: list[float]) -> float:
        return accumulator[0] / accumulator[1]


def fails(value: int | None) -> int | None:
    if value is not None and value > 1:
        raise ValueError(f"{value} is too much")
    return value


def gives_text(value: Any) -> int:
    return "twelve"  # type: ignore[return-value]


class FailsAtLast(Median):
    def get_value(self, accumulator: list[float]) -> float | None:
        return 1 / 0

    def merge(self, accumulator: list[float], accumulators: list[list[float]]) -> None:
        for other in accumulators:
            accumulator += other


def without_type(value):
    return value


def of_no_sql_type(value: int) -> re.Pattern[str]:
    return re.compile(str(value))


@returns("NUMBR")
def of_unknown_type(value: int) -> Any:
    return value


def by_name(*, value: int) -> int:
    return value


class Empty:
    pass


class NeedsArgument:
    def __init__(self, start: int) -> None:
        self.start = start

    def eval(self, value: int) -> int:
        return self.start + value


class WithoutAccumulate:
    def create_accumulator(self) -> list[Any]:
        return []

    def get_value(self, accumulator: list[Any]) -> int:
        return 0


class TakesNothing(Median):
    def accumulate(self, accumulator: list[float]) -> None:  # type: ignore[override]
        pass


class OfRows:
    """All rows of a window as Arrow arrays, sorted, so that a lost or repeated row shows."""

    def of_rows(self, prices: pa.Array, items: pa.Array) -> str:
        return repr(sorted(zip(prices.to_pylist(), items.to_pylist(), strict=True), key=repr))


class Spread:
    """Of a pandas Series; numpy's numbers are results too."""

    def of_rows(self, values: pd.Series) -> float:
        found: float = values.astype(float).max() - values.astype(float).min()
        return found
