"""Nexmark's events, computed from row numbers. A few hot auctions and bidders get most of the bids.

Source: the Nexmark benchmark of Beam and Flink; the texts are our own and shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from tvfsql.plan.synthetic.nexmark import EPOCH, EVENT_TYPE, EVENTS, KINDS, PROPORTIONS, Nexmark
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.synthetic.datagen import texts, times
from tvfsql.runtime.synthetic.draws import Draws

FIRST_ID = 1000  # the first id of persons and of auctions
FIRST_CATEGORY, CATEGORIES = 10, 5
ACTIVE_PERSONS = 1000  # how many of the newest persons sell and bid
OPEN_AUCTIONS = 100  # how many of the newest auctions get bids
HOT = 100  # one of this many consecutive persons or auctions is hot
HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
CHANNELS = (*HOT_CHANNELS, *(f"channel-{number}" for number in range(10_000)))
URLS = tuple(f"https://www.nexmark.com/{n % 97}/item.htm?query=1&channel_id={n}" for n in range(len(CHANNELS)))
FIRST_NAMES = ("Ada", "Boris", "Chen", "Dora", "Emil", "Fatima", "Gita", "Hugo", "Ines", "Jun", "Kofi")
LAST_NAMES = ("Adler", "Brown", "Costa", "Diaz", "Endo", "Fischer", "Gupta", "Hansen", "Ivanov")
NAMES = tuple(f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES)
PLACES = (
    ("Phoenix", "AZ"), ("Los Angeles", "CA"), ("San Francisco", "CA"), ("Boise", "ID"), ("Portland", "OR"),
    ("Bend", "OR"), ("Redmond", "WA"), ("Seattle", "WA"), ("Kent", "WA"), ("Cheyenne", "WY"),
)  # fmt: skip
CITIES, STATES = zip(*PLACES, strict=True)
TEXT = 16  # the length of filler texts


def events(spec: Nexmark, seed: int, rows: Ints) -> Events | AllEvents:
    """The events for rows of a table, by their numbers within it."""
    return AllEvents(spec, seed, rows) if spec.table == EVENTS else Events(spec, seed, rows)


class AllEvents:
    """Events of all tables, each in the column of its table. The other columns are NULL."""

    def __init__(self, spec: Nexmark, seed: int, rows: Ints) -> None:
        self.spec, self.seed, self.rows = spec, seed, rows
        ends = np.cumsum([PROPORTIONS[kind] for kind in KINDS])
        self.kinds = np.searchsorted(ends, rows % EPOCH, side="right")
        self.starts = ends - [PROPORTIONS[kind] for kind in KINDS]

    def column(self, name: str, kind: Any) -> pa.Array:
        """A column of the table, as the Arrow type `kind`."""
        if name == EVENT_TYPE.name:
            return pa.array(self.kinds, type=kind)
        number = KINDS.index(name)
        mine = self.kinds == number
        rows = self.rows[mine]
        within = rows // EPOCH * PROPORTIONS[name] + rows % EPOCH - self.starts[number]
        made = Events(replace(self.spec, table=name), self.seed, within)
        inside = [kind.field(i) for i in range(kind.num_fields)]
        places = pa.array(np.cumsum(mine) - 1, mask=~mine)
        parts = [made.column(field.name, field.type).take(places) for field in inside]
        return pa.StructArray.from_arrays(parts, fields=inside, mask=pa.array(~mine))


class Events:
    """Events of one table, by their numbers within it."""

    def __init__(self, spec: Nexmark, seed: int, rows: Ints) -> None:
        self.spec, self.rows = spec, rows
        share = PROPORTIONS[spec.table]
        before = sum(list(PROPORTIONS.values())[: list(PROPORTIONS).index(spec.table)])
        self.number = rows // share * EPOCH + before + rows % share  # among the events of all tables
        self.draws = Draws(seed, self.number)

    def column(self, name: str, kind: pa.DataType) -> pa.Array:
        """A column of the table, as the Arrow type `kind`."""
        made = COLUMNS[self.spec.table][name](self)
        if isinstance(made, np.ndarray):
            return times(made, kind) if pa.types.is_timestamp(kind) else pa.array(made, type=kind)
        return made

    def date_time(self) -> Ints:
        ms = self.number * 1000 // self.spec.rate
        if self.spec.disorder:
            ms = np.maximum(ms - self.draws.below("dateTime", self.spec.disorder), 0)
        return self.spec.start + ms

    def expires(self) -> Ints:
        """The event's time plus about as long as it takes to open up to a few hundred auctions."""
        open_ms = OPEN_AUCTIONS * EPOCH // PROPORTIONS["auction"] * 1000 // self.spec.rate
        return self.date_time() + 1 + self.draws.below("expires", max(2 * open_ms, 1))

    def person(self, hot: int) -> Ints:
        """An existing person: in three of four events number `hot` of the newest hundred."""
        newest = self.number // EPOCH
        active = np.minimum(newest + 1, ACTIVE_PERSONS)
        any_one = newest + 1 - active + self.draws.below("person", active)
        hot_one = np.minimum(newest // HOT * HOT + hot, newest)
        person: Ints = np.where(self.draws.below("hot person", 4) > 0, hot_one, any_one)
        return FIRST_ID + person

    def auction(self) -> Ints:
        """An existing auction: in every other bid the hot one of the newest hundred."""
        newest = self.number // EPOCH * PROPORTIONS["auction"] + PROPORTIONS["auction"] - 1
        open_ones = np.minimum(newest, OPEN_AUCTIONS) + 1
        any_one = newest + 1 - open_ones + self.draws.below("auction", open_ones)
        auction: Ints = np.where(self.draws.below("hot auction", 2) > 0, newest // HOT * HOT, any_one)
        return FIRST_ID + auction

    def price(self, name: str) -> Ints:
        """Prices from 100 to 100 million, with evenly distributed magnitudes."""
        price: Ints = np.round(10 ** (self.draws.unit(name) * 6) * 100).astype(np.int64)
        return price

    def coded(self, name: str, words: tuple[str, ...]) -> pa.Array:
        """One of the `words`. All columns that draw under one name get the same index."""
        return pa.array(words).take(pa.array(self.draws.below(name, len(words))))

    def channel(self, words: tuple[str, ...]) -> pa.Array:
        """The element of `words` for a bid's channel. Every other bid comes through a hot channel."""
        hot = self.draws.below("hot channel", 2) > 0
        any_one = self.draws.below("channel", len(CHANNELS))
        return pa.array(words).take(pa.array(np.where(hot, any_one % len(HOT_CHANNELS), any_one)))

    def text(self, name: str) -> pa.Array:
        return texts(self.draws.hexadecimal(name, TEXT))

    def email(self) -> pa.Array:
        characters = self.draws.hexadecimal("email", 16)
        characters[:, 7], characters[:, 12] = ord("@"), ord(".")
        return texts(characters)

    def credit_card(self) -> pa.Array:
        """Four groups of four digits."""
        digits = [self.draws.below(f"card {i}", 10**8) for i in range(2)]
        places = [digit // 10**i % 10 for digit in digits for i in range(8)]
        blank = np.full(len(self.rows), ord(" ") - ord("0"))
        columns = [each for i, place in enumerate(places) for each in ((blank, place) if i in (4, 8, 12) else (place,))]
        return texts((np.stack(columns, axis=1) + ord("0")).astype(np.uint8))


COLUMNS: dict[str, dict[str, Callable[[Events], pa.Array | Ints]]] = {
    "person": {
        "id": lambda events: FIRST_ID + events.rows,
        "name": lambda events: events.coded("name", NAMES),
        "emailAddress": Events.email,
        "creditCard": Events.credit_card,
        "city": lambda events: events.coded("place", CITIES),
        "state": lambda events: events.coded("place", STATES),
        "dateTime": Events.date_time,
        "extra": lambda events: events.text("extra"),
    },
    "auction": {
        "id": lambda events: FIRST_ID + events.rows,
        "itemName": lambda events: events.text("item"),
        "description": lambda events: events.text("description"),
        "initialBid": lambda events: events.price("initial bid"),
        "reserve": lambda events: events.price("initial bid") + events.price("reserve"),
        "dateTime": Events.date_time,
        "expires": Events.expires,
        "seller": lambda events: events.person(hot=0),
        "category": lambda events: FIRST_CATEGORY + events.draws.below("category", CATEGORIES),
        "extra": lambda events: events.text("extra"),
    },
    "bid": {
        "auction": Events.auction,
        "bidder": lambda events: events.person(hot=1),
        "price": lambda events: events.price("price"),
        "channel": lambda events: events.channel(CHANNELS),
        "url": lambda events: events.channel(URLS),
        "dateTime": Events.date_time,
        "extra": lambda events: events.text("extra"),
    },
}
