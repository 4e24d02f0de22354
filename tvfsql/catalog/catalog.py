"""Tables, views and functions by name. A catalog belongs to one session; compile() copies the catalog that it gets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tvfsql.catalog.outside import Files, Outside
from tvfsql.catalog.table import Table, View
from tvfsql.errors import BindError, Span, did_you_mean, nearest
from tvfsql.plan.tables.internal_columns import refused
from tvfsql.plan.values.user_function import UserFunction

FILES = ("avro", "csv", "json", "jsonl", "orc", "parquet", "tsv", "txt")  # the ends of names of files


class NoTableError(BindError):
    """There is no table of a name."""

    def __init__(self, name: str, what: str, span: Span | None, hint: str | None) -> None:
        super().__init__(f"there is no {what} {name}", span=span, hint=hint or f"CREATE TABLE {name} (...)")
        self.name = name
        self.similar = hint  # what the name may mean


@dataclass
class Catalog:
    """Names are looked up in the given case first, then in any case if only one matches, then in Spark's catalogs
    (`outside`; None: no Spark is at hand). Paths of `files` are names too. A temporary table or view hides another one
    of its name, until it is dropped (`temporary` are their names, `hidden` what they hide). `zone` is the local time
    zone to which expressions of its tables are bound. `bound_views` has the views that were bound, for `bind.views`;
    copies share it.
    """

    entries: dict[str, Table | View] = field(default_factory=dict)
    functions: dict[str, UserFunction] = field(default_factory=dict)  # by name in lower case
    outside: Outside | None = None
    files: Files | None = None
    zone: str = "UTC"
    identity: object = field(default_factory=object, compare=False, repr=False)  # copies have the same one
    temporary: frozenset[str] = frozenset()
    hidden: dict[str, Table | View] = field(default_factory=dict)
    bound_views: dict[tuple[str, str], object] = field(default_factory=dict, compare=False, repr=False)

    def copy(self) -> Catalog:
        """Return an independent catalog with the same entries."""
        entries, functions = dict(self.entries), dict(self.functions)
        hidden, bound = dict(self.hidden), self.bound_views
        return Catalog(
            entries, functions, self.outside, self.files, self.zone, self.identity, self.temporary, hidden, bound
        )

    def find(self, name: str) -> Table | View | None:
        """The table or view of that name that a statement or a program has made."""
        if name in self.entries:
            return self.entries[name]
        alike = [entry for key, entry in self.entries.items() if key.lower() == name.lower()]
        return alike[0] if len(alike) == 1 else None

    def look_up(self, name: str) -> Table | View | None:
        """The same, or the table of a file, or one of Spark."""
        found = self.find(name) or (self.files.table(name) if self.files else None)
        return found or (self.outside.table(name) if self.outside else None)

    def get(self, name: str, span: Span | None = None, *, also: tuple[str, ...] = ()) -> Table | View:
        """Return the table or view of that name, which may be Spark's. Raises BindError with the nearest name (also of
        `also`).
        """
        try:
            entry = self.look_up(name)
        except BindError as error:  # of a file
            error.span = span
            raise
        if entry is None:
            known = (*self.entries, *also, *self._beside(name))
            hint = self.files.hint(name) if self.files and _is_file(name) else None
            hint = hint or (_outside_hint(name, known) if "." in name or "/" in name else did_you_mean(name, known))
            what = "table or file" if _is_file(name) else "table"
            raise NoTableError(name, what, span, hint)
        return entry

    def _beside(self, name: str) -> tuple[str, ...]:
        """The tables of Spark in the same database."""
        database, dot, _ = name.rpartition(".")
        return tuple(f"{database}{dot}{each}" for each in self.outside.tables(database)) if self.outside else ()

    def add(self, entry: Table | View, *, replace: bool = False, span: Span | None = None) -> None:
        """Add a table or view. Raises BindError if the name is taken and not `replace`, or by the other kind, or if
        a column's name cannot be used.
        """
        if isinstance(entry, Table):
            refuse_columns(entry, span)
        found = self.find(entry.name)
        kind, other = ("view", "table") if isinstance(found, View) else ("table", "view")
        if found is not None and not replace:
            raise BindError(f"{kind} {found.name} already exists", span=span, hint=f"DROP {kind.upper()} {found.name}")
        if found is not None and type(found) is not type(entry):
            raise BindError(f"{found.name} is a {kind}, which no {other} replaces", span=span, hint="another name")
        if found is not None:
            del self.entries[found.name]
        self.entries[entry.name] = entry

    def hide(self, name: str) -> None:
        """Make room for a temporary table or view: what has that name comes back when that is dropped."""
        found = self.find(name)
        if found is not None and found.name not in self.temporary:
            self.hidden[found.name] = self.entries.pop(found.name)

    def drop(self, name: str, kind: str, *, span: Span | None = None) -> None:
        """Remove a table or view. Raises BindError if it does not exist, is of the other kind, or is Spark's."""
        found = self.get(name, span)
        self.refuse_file(name, span)
        if self.find(name) is None:
            raise BindError(
                f"{name} is a table of Spark, which tvfsql does not drop",
                span=span,
                hint=f'spark.sql("DROP {kind.upper()} {name}")',
            )
        actual = "view" if isinstance(found, View) else "table"
        if actual != kind:
            raise BindError(f"{found.name} is a {actual}", span=span, hint=f"DROP {actual.upper()} {found.name}")
        del self.entries[found.name]
        self.temporary -= {found.name}
        for key in [key for key in self.hidden if key.lower() == found.name.lower()]:
            self.entries[key] = self.hidden.pop(key)

    def refuse_file(self, name: str, span: Span | None) -> None:
        """Raise BindError if a name that is to be changed is the path of a file, which has no table."""
        if self.find(name) is None and self.files and self.files.table(name):
            hint = f"CREATE TABLE t WITH ('path' = '{name}')"
            raise BindError(f"{name} is a file without a table, which is only read", span=span, hint=hint)

    def add_function(self, function: UserFunction, *, replace: bool = False, span: Span | None = None) -> None:
        """Add a function. Raises BindError if the name is taken and not `replace`."""
        known = self.functions.get(function.name.lower())
        if known is not None and not replace:
            raise BindError(f"function {known.name} already exists", span=span, hint=f"DROP FUNCTION {known.name}")
        self.functions[function.name.lower()] = function

    def drop_function(self, name: str, *, span: Span | None = None) -> None:
        """Remove a function. Raises BindError if it does not exist."""
        if self.functions.pop(name.lower(), None) is None:
            names = [function.name for function in self.functions.values()]
            raise BindError(f"there is no function {name}", span=span, hint=did_you_mean(name, names))

    def packages(self) -> frozenset[str]:
        """The Spark packages that the tables need."""
        tables = [entry for entry in self.entries.values() if isinstance(entry, Table) and entry.connector]
        return frozenset(table.connector.package for table in tables if table.connector and table.connector.package)

    def names(self, kind: type[Table] | type[View]) -> tuple[str, ...]:
        return tuple(sorted(name for name, entry in self.entries.items() if isinstance(entry, kind)))


def refuse_columns(table: Table, span: Span | None = None) -> None:
    """Raise BindError for a column whose name cannot be used."""
    for column in table.visible:
        if why := refused(column.name):
            raise BindError(f"the column {column.name} of {table.name}: {why}", span=span, hint="another name")


def _is_file(name: str) -> bool:
    """Whether a name looks like the path of a file."""
    return "/" in name or _end(name) in FILES


def _end(name: str) -> str:
    return name.rpartition(".")[2].lower()


def _outside_hint(name: str, known: Iterable[str]) -> str:
    """The table that a name with dots may mean, or how to declare one of Spark."""
    if close := nearest(name, known):
        return f"did you mean {close}?"
    own = name.rpartition(".")[2]
    if _is_file(name):
        form = _end(name) if _end(name) in FILES else "parquet"
        form = {"jsonl": "json", "tsv": "csv"}.get(form, form)
        return f"CREATE TABLE t (...) WITH ('connector' = 'filesystem', 'path' = '{name}', 'format' = '{form}')"
    return f"CREATE TABLE {own} (...) WITH ('connector' = 'spark-catalog', 'table-name' = '{name}')"
