"""Processing-time triggers: a stream whose operators wait for a time has a micro-batch then, though no rows come.

The clock of the driver decides, once, and says so through the control channel. What time it is, the micro-batch itself
knows (`with_now`), so that one that is run again decides the same. Source: semantics.md#processing-time.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Triggers:
    """The triggers of a stream that runs: at most one after each micro-batch. The next one then says what is due."""

    after: int | None = None  # the last micro-batch after which there was one

    def wanted(self, due: int | None, micro_batch: int | None, now: float) -> bool:
        """Whether to trigger one (epoch ms): `due`, as of the last `micro_batch`, has come, and nothing is at work."""
        if due is None or now < due or micro_batch == self.after:
            return False
        self.after = micro_batch
        return True
