"""Processing-time triggers: the driver causes a micro-batch at the time that an operator waits for, even without rows.

The driver's clock decides once, and the decision goes through the control channel. The micro-batch knows its own time
(`with_now`), so a repeated one decides the same. Source: semantics.md#processing-time.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Triggers:
    """The triggers of a running stream: at most one after each micro-batch. The next micro-batch then reports what is
    due."""

    after: int | None = None  # the last micro-batch that a trigger followed

    def wanted(self, due: int | None, micro_batch: int | None, now: float) -> bool:
        """Whether to trigger a micro-batch now. Times are epoch ms.

        `due` is the first time that operators wait for, as of the last `micro_batch`; None: they wait for none. The
        caller asks only while the query is at rest.
        """
        if due is None or now < due or micro_batch == self.after:
            return False
        self.after = micro_batch
        return True
