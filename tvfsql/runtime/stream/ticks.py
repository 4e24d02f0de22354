"""Ticks: a stream whose operators wait for a time has a micro-batch then, though no rows come.

The clock of the driver decides, once, and says so through the control channel. What time it is is told by the
micro-batch itself (`with_now`), so that one that is run again decides the same. Source: semantics.md e.1.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Ticks:
    """The ticks of a stream that runs: one after a micro-batch, at most. The next micro-batch says what is due then."""

    after: int | None = None  # the micro-batch after which there was a tick

    def wanted(self, due: int | None, micro_batch: int | None, now: float) -> bool:
        """Whether to tick now (epoch ms): `due`, as of the last `micro_batch`, has come, and nothing is at work."""
        if due is None or now < due or micro_batch == self.after:
            return False
        self.after = micro_batch
        return True
