"""Tables whose rows are made: how many there are and how fast they come, as their WITH clauses say it.

A row is known by its number alone, so a batch, a stream and a replay of it have the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvfsql.plan.table_options import TableOptions

START = "2024-01-01 00:00:00"  # where event time begins by default
PER_SECOND = 10_000  # rows of a table without end that does not say, as in Flink


@dataclass(frozen=True)
class Rows:
    """How many rows there are (None: no end), how many a second come (None: as fast as they are read), how
    many a micro-batch has at most; and the seed of all that is drawn."""

    number: int | None
    per_second: int | None
    per_batch: int
    seed: int

    @classmethod
    def of(cls, options: TableOptions, per_second: int = PER_SECOND) -> Rows:
        """The rows of a WITH clause; `per_second` is how many come of a table without end if it does not say.

        Raises BindError.
        """
        ends = [options.whole("number-of-rows", least=0)] if "number-of-rows" in options else []
        ends += _ends_of_sequences(options)
        number = min(ends) if ends else None
        paced = number is None or "rows-per-second" in options
        speed = options.whole("rows-per-second", per_second, least=1)
        per_batch = options.whole("rows-per-batch", 100_000, least=1)
        return cls(number, speed if paced else None, per_batch, _whole(options, "seed", 0))


def _whole(options: TableOptions, key: str, default: int | None = None) -> int:
    return options.whole(key, default, least=-(2**63))


def _ends_of_sequences(options: TableOptions) -> list[int]:
    """The rows that datagen's sequences have: the shortest is the end of the table, as in Flink."""
    same = TableOptions(options.values, options.spans, options.table)  # whether a column has them is not asked here
    fields = [key.removesuffix(".end") for key in same.values if key.startswith("fields.") and key.endswith(".end")]
    return [_whole(same, f"{field}.end") - _whole(same, f"{field}.start") + 1 for field in fields]
