"""Catalogs and databases: the first parts of table names with two or three parts. A table's own name includes them,
unless they are `default_catalog.default_database`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from tvfsql.errors import BindError, SqlSyntaxError, UnsupportedError, did_you_mean
from tvfsql.syntax.ast import Name

CATALOG, DATABASE = "default_catalog", "default_database"
IN_MEMORY = "generic_in_memory"


@dataclass
class Databases:
    """The databases of each catalog, and the current catalog and database."""

    catalogs: dict[str, list[str]] = field(default_factory=lambda: {CATALOG: [DATABASE]})
    catalog: str = CATALOG
    database: str = DATABASE

    def key(self, parts: Sequence[Name]) -> str:
        """The full name of a table whose written name has these parts. Raises SqlSyntaxError for an unknown catalog or
        database.
        """
        if len(parts) > 3:
            raise SqlSyntaxError("a name has at most three parts", span=parts[3].span, hint="catalog.database.table")
        catalog, database = self.catalog, self.database
        if len(parts) == 3:
            catalog = self._known(parts[0], self.catalogs, "catalog", parts[-1])
        if len(parts) > 1:
            database = self._known(parts[-2], self.catalogs[catalog], "database", parts[-1])
        if (catalog, database) == (CATALOG, DATABASE):
            return parts[-1].text
        return ".".join((*([] if catalog == CATALOG else [catalog]), database, parts[-1].text))

    def _known(self, name: Name, known: Sequence[str] | dict[str, list[str]], kind: str, last: Name) -> str:
        found = next((each for each in known if each.lower() == name.text.lower()), None)
        if found is None:
            of_type = "" if kind == "database" else f" WITH ('type' = '{IN_MEMORY}')"
            create = f"CREATE {kind.upper()} {name.text}{of_type}"
            hint = did_you_mean(name.text, [*known]) if len(known) > 1 else f"{last.text}, or {create} before it"
            raise SqlSyntaxError(f"there is no {kind} {name.text}", span=name.span, hint=hint or create)
        return found

    def shown(self, what: str) -> tuple[str, ...] | None:
        """The rows of SHOW for catalogs and databases; None for anything else."""
        return {
            "catalogs": tuple(self.catalogs),
            "databases": tuple(self.catalogs[self.catalog]),
            "current catalog": (self.catalog,),
            "current database": (self.database,),
        }.get(what)

    def create_catalog(self, name: Name, options: dict[str, str], *, exists: bool) -> None:
        """Create a catalog. Raises UnsupportedError for one that stores its tables elsewhere."""
        kind = options.get("type", "")
        if kind != IN_MEMORY:
            hint = f"'type' = '{IN_MEMORY}', and CREATE TABLE for each table of it"
            raise UnsupportedError(f"a catalog cannot be of type {kind or '(none)'}", span=name.span, hint=hint)
        if name.text in self.catalogs and not exists:
            raise BindError(f"catalog {name.text} exists", span=name.span, hint="CREATE CATALOG IF NOT EXISTS")
        self.catalogs.setdefault(name.text, [options.get("default-database", "default")])

    def create_database(self, parts: Sequence[Name], *, exists: bool) -> None:
        catalog = self._of_catalog(parts)
        name = parts[-1]
        if name.text in self.catalogs[catalog]:
            if not exists:
                hint = "CREATE DATABASE IF NOT EXISTS"
                raise BindError(f"database {name.text} exists", span=name.span, hint=hint)
            return
        self.catalogs[catalog].append(name.text)

    def use_catalog(self, name: Name) -> None:
        self.catalog = self._known(name, self.catalogs, "catalog", name)
        self.database = self.catalogs[self.catalog][0]

    def use(self, parts: Sequence[Name]) -> None:
        catalog = self._of_catalog(parts)
        self.database = self._known(parts[-1], self.catalogs[catalog], "database", parts[-1])
        self.catalog = catalog

    def _of_catalog(self, parts: Sequence[Name]) -> str:
        return self._known(parts[0], self.catalogs, "catalog", parts[-1]) if len(parts) == 2 else self.catalog


_CURRENT: ContextVar[Databases | None] = ContextVar("databases", default=None)


def current() -> Databases:
    """The databases that the current script knows."""
    return _CURRENT.get() or Databases()


@contextmanager
def known_databases(databases: Databases | None) -> Iterator[None]:
    """Parse inside with these databases."""
    token = _CURRENT.set(databases or Databases())
    try:
        yield
    finally:
        _CURRENT.reset(token)
