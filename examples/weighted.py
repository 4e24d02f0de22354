"""Functions of examples/weighted_delay.sql: an aggregate and a scalar function that SQL does not have."""

from __future__ import annotations

from tvfsql.functions import returns


@returns("DOUBLE")
class WeightedAvg:
    """The average of values, of which each counts as often as its weight says."""

    def create_accumulator(self) -> list[float]:
        return [0, 0]  # the sum of the weighted values, the sum of the weights

    def accumulate(self, accumulator: list[float], value: float | None, weight: float | None) -> None:
        if value is not None and weight is not None:
            accumulator[0] += value * weight
            accumulator[1] += weight

    def retract(self, accumulator: list[float], value: float | None, weight: float | None) -> None:
        if value is not None and weight is not None:
            accumulator[0] -= value * weight
            accumulator[1] -= weight

    def merge(self, accumulator: list[float], accumulators: list[list[float]]) -> None:
        for total, weight in accumulators:
            accumulator[0] += total
            accumulator[1] += weight

    def get_value(self, accumulator: list[float]) -> float | None:
        total, weight = accumulator
        return total / weight if weight else None


def in_hours(minutes: float | None) -> str | None:
    """Minutes as hours and minutes: 2:05."""
    if minutes is None:
        return None
    whole = round(abs(minutes))
    return f"{'-' if minutes < 0 else ''}{whole // 60}:{whole % 60:02}"
