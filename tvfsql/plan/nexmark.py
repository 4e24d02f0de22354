"""Nexmark's tables: the columns that they have, and the options that say which events there are.

Source: the Nexmark benchmark (Tucker and others, 2002) as Beam and Flink run it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvfsql.plan.generated import START, Rows
from tvfsql.plan.node import Field
from tvfsql.plan.table_options import TableOptions

# Of 50 events the first is a person, the next three are auctions, the others are bids.
PROPORTIONS = {"person": 1, "auction": 3, "bid": 46}


def _columns(text: str) -> tuple[Field, ...]:
    return tuple(Field(*column.split()) for column in text.split(", "))


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


@dataclass(frozen=True)
class Nexmark:
    """One of Nexmark's tables: its events are spread over event time from `start` (epoch ms), `rate` of all
    three tables a second; a row's time is behind its place in order by less than `disorder` ms."""

    table: str
    rate: int
    start: int
    disorder: int

    @classmethod
    def of(cls, options: TableOptions) -> Nexmark:
        """Raises BindError."""
        return cls(
            options.word("nexmark.table", tuple(TABLES)),
            options.whole("first-event.rate", 10_000, least=1),
            options.time("start-time", START),
            options.duration("disorder", "0 s"),
        )

    def rows(self, options: TableOptions) -> Rows:
        """Its rows; without end they come as fast as event time goes. Raises BindError."""
        share = self.rate * PROPORTIONS[self.table] // sum(PROPORTIONS.values())
        return Rows.of(options, max(1, share))
