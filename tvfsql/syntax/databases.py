"""Catalogs and databases: the first parts of table names with two or three parts. A table's own name includes them,
unless they are `default_catalog.default_database`. Names of other catalogs and databases may be Spark's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from tvfsql.errors import BindError, SqlSyntaxError, UnsupportedError, did_you_mean
from tvfsql.syntax.ast import Name

CATALOG, DATABASE = "default_catalog", "default_database"
IN_MEMORY = "generic_in_memory"


@dataclass
class Databases:
    """The databases of each catalog, and the current catalog and database, which may be Spark's."""

    catalogs: dict[str, list[str]] = field(default_factory=lambda: {CATALOG: [DATABASE]})
    catalog: str = CATALOG
    database: str = DATABASE

    def key(self, parts: Sequence[Name], *, made: bool = False) -> str:
        """The full name of a table whose written name has these parts.

        If it is to be `made`, raises SqlSyntaxError for an unknown catalog or database; otherwise the table may be
        one of Spark's.
        """
        if len(parts) > 3:
            raise SqlSyntaxError("a name has at most three parts", span=parts[3].span, hint="catalog.database.table")
        if made:
            self._require(parts)
        texts = [part.text for part in parts]
        catalog = texts[0] if len(parts) == 3 else self.catalog
        database = texts[-2] if len(parts) > 1 else self.database
        catalog = _alike(catalog, self.catalogs) or catalog
        known = _alike(database, self.catalogs.get(catalog, ()))
        if len(parts) == 2 and known is None and catalog in self.catalogs:
            return ".".join(texts)
        if (catalog, known) == (CATALOG, DATABASE):
            return texts[-1]
        return ".".join((*([] if catalog == CATALOG else [catalog]), known or database, texts[-1]))

    def _require(self, parts: Sequence[Name]) -> None:
        """Raise SqlSyntaxError if the first parts name an unknown catalog or database, apart from the current one."""
        catalog = self.catalog
        if len(parts) == 3 and parts[0].text.lower() != catalog.lower():
            catalog = self._known(parts[0], self.catalogs, "catalog", parts[-1])
        if len(parts) > 1 and (catalog, parts[-2].text.lower()) != (self.catalog, self.database.lower()):
            self._known(parts[-2], self.catalogs.get(catalog, ()), "database", parts[-1])

    def _known(self, name: Name, known: Sequence[str] | dict[str, list[str]], kind: str, last: Name) -> str:
        found = _alike(name.text, known)
        if found is None:
            of_type = "" if kind == "database" else f" WITH ('type' = '{IN_MEMORY}')"
            create = f"CREATE {kind.upper()} {name.text}{of_type}"
            here = "" if last is name else f"{last.text}, or "
            hint = did_you_mean(name.text, [*known]) if len(known) > 1 else f"{here}{create} before it"
            raise SqlSyntaxError(f"there is no {kind} {name.text}", span=name.span, hint=hint or create)
        return found

    def shown(self, what: str, of: Sequence[Name] = ()) -> tuple[str, ...] | None:
        """The rows of SHOW for catalogs and databases (of the catalog `of`, by default the current one); None for
        anything else."""
        catalog = of[0].text if of else self.catalog
        return {
            "catalogs": tuple(self.catalogs),
            "databases": tuple(self.catalogs.get(_alike(catalog, self.catalogs) or catalog, ())),
            "current catalog": (self.catalog,),
            "current database": (self.database,),
        }.get(what)

    def has(self, parts: Sequence[Name], what: str) -> bool:
        """Whether there is a catalog (for SHOW DATABASES) or a database of that name."""
        if what == "databases":
            return not parts or _alike(parts[-1].text, self.catalogs) is not None
        catalog = parts[0].text if len(parts) == 2 else self.catalog
        known = self.catalogs.get(_alike(catalog, self.catalogs) or "", ())
        return not parts or _alike(parts[-1].text, known) is not None

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

    def use(self, parts: Sequence[Name]) -> str | None:
        """Make a database the current one. Returns its full name if it is unknown, so that it must be Spark's."""
        if len(parts) > 2:
            raise SqlSyntaxError("a database has at most two parts", span=parts[2].span, hint="USE catalog.database")
        catalog = parts[0].text if len(parts) == 2 else self.catalog
        catalog = _alike(catalog, self.catalogs) or catalog
        database = _alike(parts[-1].text, self.catalogs.get(catalog, ()))
        if database is None and len(parts) == 1 and catalog in self.catalogs:
            catalog = CATALOG
        self.catalog, self.database = catalog, database or parts[-1].text
        if database is not None:
            return None
        return self.database if catalog == CATALOG else f"{catalog}.{self.database}"

    def _of_catalog(self, parts: Sequence[Name]) -> str:
        if len(parts) == 2:
            return self._known(parts[0], self.catalogs, "catalog", parts[-1])
        return self.catalog if self.catalog in self.catalogs else CATALOG


def _alike(name: str, known: Iterable[str]) -> str | None:
    """The one of `known` with that name in any case."""
    return next((each for each in known if each.lower() == name.lower()), None)


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
