"""What emitted code calls at run time. Names load on first use; importing this loads no Spark, no numpy."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvfsql.runtime.merge import merge_slices as merge_slices

_MODULE_OF = {"merge_slices": "merge"}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
