"""Tables with generated rows: how many rows they have and how fast these arrive, from their WITH clauses.

A row depends only on its number, so a batch, a stream and a replay of the stream have the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvfsql.plan.tables.options import TableOptions

START = "2024-01-01 00:00:00"  # the default start of event time
PER_SECOND = 10_000  # the default of unbounded tables, as in Flink
NEXT_ROW, ROWS = "row", "of"  # in offsets of streams: the number of the next row and, of a bounded table, of all rows


@dataclass(frozen=True)
class Rows:
    """The number of rows (None: unbounded), the rows per second (None: as fast as they are read), the most rows per
    micro-batch, and the seed of all random values.
    """

    number: int | None
    per_second: int | None
    per_batch: int
    seed: int

    @classmethod
    def of(cls, options: TableOptions, per_second: int = PER_SECOND) -> Rows:
        """Read the rows of a WITH clause. `per_second` is the default rate of an unbounded table.

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
    """The number of rows in each of datagen's sequences. The shortest one ends the table, as in Flink."""
    same = options.with_values({})  # a copy: reading here is not use of the options
    fields = [key.removesuffix(".end") for key in same.values if key.startswith("fields.") and key.endswith(".end")]
    return [_whole(same, f"{field}.end") - _whole(same, f"{field}.start") + 1 for field in fields]
