"""The description of an operator in its state, so that a checkpoint can be read without the query (`tvfsql state`).

It is JSON, and is written with the index of each key group.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from tvfsql.errors import DataError
from tvfsql.plan.checkpoint.manifest import LAYOUT
from tvfsql.plan.window import Window, as_json, from_json


@dataclass(frozen=True)
class Description:
    """An operator as EXPLAIN names it, with the names of its key columns.

    `window` is None for operators that keep rows by key. `about`: what else EXPLAIN shows. `zone`: the zone of the
    clock that its times are on; "" for TIMESTAMPs. `inputs`: the prefixes of its channels' names (`Valve`).
    """

    operator: str
    keys: tuple[str, ...] = ()
    window: Window | None = None
    about: str = ""
    zone: str = ""
    inputs: tuple[str, ...] = ("",)

    def dump(self) -> str:
        window = None if self.window is None else as_json(self.window)
        return json.dumps({"layout": LAYOUT, **vars(self), "window": window}, ensure_ascii=False)

    @classmethod
    def load(cls, text: str | None) -> Description:
        """Parse a description. Raises DataError if the state has a layout that this version does not read."""
        parts = json.loads(text or "{}")
        layout = parts.pop("layout", None)
        if layout != LAYOUT:
            raise DataError(
                f"this state has {'no known layout' if layout is None else f'layout {layout}'}, "
                f"but this version of tvfsql reads layout {LAYOUT}",
                hint="read it with the version that wrote it",
            )
        if parts["window"] is not None:
            parts["window"] = from_json(parts["window"])
        return cls(**parts | {name: tuple(parts[name]) for name in ("keys", "inputs")})
