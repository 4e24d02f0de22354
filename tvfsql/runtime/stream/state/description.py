"""What an operator's state says of itself, so that a checkpoint can be read by whoever finds it (`tvfsql state`).

It lies beside the index of each key group, as JSON, and is written with it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import get_args

from tvfsql.errors import DataError
from tvfsql.plan.window import Window

LAYOUT = 2  # how state lies; another number where state that was written before can no longer be read
_WINDOWS: dict[str, type[Window]] = {kind.__name__: kind for kind in get_args(Window)}


@dataclass(frozen=True)
class Description:
    """An operator as EXPLAIN names it, the names of its key columns, its window (None: it keeps rows by key) or what
    else EXPLAIN says of it, the zone on whose wall clock its times are ("": they are TIMESTAMPs), and what the names
    of its channels begin with (`Valve`)."""

    operator: str
    keys: tuple[str, ...] = ()
    window: Window | None = None
    about: str = ""
    zone: str = ""
    inputs: tuple[str, ...] = ("",)

    def dump(self) -> str:
        window = None if self.window is None else [type(self.window).__name__, asdict(self.window)]
        return json.dumps({"layout": LAYOUT, **vars(self), "window": window}, ensure_ascii=False)

    @classmethod
    def load(cls, text: str | None) -> Description:
        """Raises DataError if the state is of another layout than this version writes."""
        parts = json.loads(text or "{}")
        layout = parts.pop("layout", None)
        if layout != LAYOUT:
            raise DataError(
                f"this state has {'no known layout' if layout is None else f'layout {layout}'}, "
                f"but this version of tvfsql reads layout {LAYOUT}",
                hint="read it with the version that wrote it",
            )
        if parts["window"] is not None:
            name, fields = parts["window"]
            parts["window"] = _WINDOWS[name](**fields)
        return cls(**parts | {name: tuple(parts[name]) for name in ("keys", "inputs")})
