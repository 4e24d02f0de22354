"""tvfsql: Flink's window SQL on Spark.

`compile(sql)` returns a query with all its stages, `Session` runs scripts, and `TvfSqlError` is the base of all errors
that a user can cause. Names are loaded on first use: `import tvfsql` loads no parser and no Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvfsql.api import Compiled as Compiled
    from tvfsql.api import Session as Session
    from tvfsql.api import compile as compile
    from tvfsql.catalog import Catalog as Catalog
    from tvfsql.errors import TvfSqlError as TvfSqlError

_MODULE_OF = {
    "Catalog": "tvfsql.catalog",
    "Compiled": "tvfsql.api",
    "Session": "tvfsql.api",
    "TvfSqlError": "tvfsql.errors",
    "compile": "tvfsql.api",
}
__all__ = ["Catalog", "Compiled", "Session", "TvfSqlError", "compile"]


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext tvfsql` in IPython and Jupyter: %tvfsql and %%tvfsql."""
    from tvfsql.notebook import load

    load(shell)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_MODULE_OF]
