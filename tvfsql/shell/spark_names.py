"""The names in Spark's catalogs, for completion. Empty before Spark runs, and if a catalog does not answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tvfsql.api import Session
from tvfsql.catalog import Table
from tvfsql.catalog.outside import Outside
from tvfsql.errors import TvfSqlError

T = TypeVar("T")


@dataclass(frozen=True)
class SparkNames:
    """Asks Spark anew each time. Names have one to three parts, with dots."""

    session: Session

    def tables(self, database: str = "") -> tuple[str, ...]:
        """The tables of a database, or of Spark's current one."""
        return self._asked(lambda outside: outside.tables(database), ())

    def databases(self, catalog: str = "") -> tuple[str, ...]:
        """The databases of a catalog, or of Spark's current one."""
        return self._asked(lambda outside: outside.databases(catalog), ())

    def catalogs(self) -> tuple[str, ...]:
        """The catalogs that Spark knows."""
        return self._asked(lambda outside: outside.catalogs(), ())

    def table(self, name: str) -> Table | None:
        """The table or view of that name."""
        return self._asked(lambda outside: outside.table(name), None)

    def _asked(self, question: Callable[[Outside], T], otherwise: T) -> T:
        outside = self.session.catalog.outside
        if outside is None or self.session.own.spark is None:
            return otherwise
        try:
            return question(outside)
        except TvfSqlError:
            return otherwise
