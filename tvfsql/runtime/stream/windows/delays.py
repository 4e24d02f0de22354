"""When rows that wait for an early or late fire are due, in processing time."""

from __future__ import annotations

from dataclasses import dataclass, field

from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore


@dataclass(frozen=True)
class Delays:
    """The waits of a key group in a micro-batch at time `now` (epoch ms). A wait starts with the first row that the key
    group has not emitted; since when is in the store, under EARLY_SINCE or LATE_SINCE."""

    store: ChunkStore
    now: int
    until: list[int] = field(default_factory=list)

    def is_due(self, since: Kind, delay: int, *, waiting: bool) -> bool:
        """Whether waiting rows have waited for `delay` ms. The wait starts at the time in the store under `since`, or
        now."""
        known = sorted(self.store.keys(since))
        start = known[0].number if known else self.now
        if waiting and self.now < start + delay:
            self.store.mark(Key(since, start))
            self.until.append(start + delay)
            return False
        for key in known:
            self.store.drop(key)
        return waiting

    @property
    def due(self) -> int | None:
        """When the first wait ends; None: nothing waits."""
        return min(self.until, default=None)
