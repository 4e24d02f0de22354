"""The tables of Nexmark: their columns, and the options that define their events.

Source: the Nexmark benchmark (Tucker and others, 2002) as Beam and Flink run it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvfsql.plan.node import Field
from tvfsql.plan.synthetic.tables import START, Rows
from tvfsql.plan.tables.options import TableOptions
from tvfsql.plan.values.types import BIGINT, INT, STRING, TIMESTAMP, Row

BY_NAME = {"bigint": BIGINT, "string": STRING, "timestamp_ntz": TIMESTAMP}
# Of every 50 events the first is a person, the next three are auctions and the others are bids.
PROPORTIONS = {"person": 1, "auction": 3, "bid": 46}
EPOCH = sum(PROPORTIONS.values())


def _columns(text: str) -> tuple[Field, ...]:
    return tuple(Field(name, BY_NAME[kind]) for name, kind in map(str.split, text.split(", ")))


TABLES = {
    "bid": _columns(
        "auction bigint, bidder bigint, price bigint, channel string, url string, dateTime timestamp_ntz, extra string"
    ),
    "auction": _columns(
        "id bigint, itemName string, description string, initialBid bigint, reserve bigint, "
        "dateTime timestamp_ntz, expires timestamp_ntz, seller bigint, category bigint, extra string"
    ),
    "person": _columns(
        "id bigint, name string, emailAddress string, creditCard string, city string, state string, "
        "dateTime timestamp_ntz, extra string"
    ),
}
# All three kinds as one table, with one event per row.
EVENTS = "events"
EVENT_TYPE = Field("event_type", INT)
KINDS = tuple(PROPORTIONS)  # in the order of their numbers in event_type
TABLES[EVENTS] = (
    EVENT_TYPE,
    *(Field(name, Row(tuple((part.name, part.type) for part in TABLES[name]))) for name in KINDS),
)
# Flink's options that would generate other events; only these values are accepted.
SETTLED = {
    **{f"{name}.proportion": str(share) for name, share in PROPORTIONS.items()},
    "bid.hot-ratio.auctions": "2",
    "bid.hot-ratio.bidders": "4",
    "auction.hot-ratio.sellers": "4",
}


@dataclass(frozen=True)
class Nexmark:
    """One of Nexmark's tables. The events of all three tables are spread over event time from `start` (epoch ms),
    `rate` per second. The time of a row lags its position in that order by less than `disorder` ms.
    """

    table: str
    rate: int
    start: int
    disorder: int

    @classmethod
    def of(cls, options: TableOptions) -> Nexmark:
        """Read the options of a table. Raises BindError."""
        for key, value in SETTLED.items():
            if options.text(key, value) != value:
                raise options.error(key, f"cannot be {options.text(key)!r}", f"'{key}' = '{value}'")
        rate = options.whole("first-event.rate", 10_000, least=1)
        if options.whole("next-event.rate", rate, least=1) != rate:
            raise options.error("next-event.rate", "must be first-event.rate", f"'next-event.rate' = '{rate}'")
        return cls(
            options.word("nexmark.table", tuple(TABLES), EVENTS),
            rate,
            options.time("start-time", START),
            options.duration("disorder", "0 s"),
        )

    def rows(self, options: TableOptions) -> Rows:
        """Return the table's rows; of an unbounded table they arrive as fast as event time passes. Raises BindError."""
        share = self.rate * PROPORTIONS.get(self.table, EPOCH) // EPOCH
        number = options.whole("events.num", 0, least=0)
        if number and "number-of-rows" not in options:
            options = options.with_values({"number-of-rows": str(number)})
        return Rows.of(options, max(1, share))
