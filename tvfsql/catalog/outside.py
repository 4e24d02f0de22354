"""The tables that are looked up after those of CREATE TABLE: those of Spark's catalogs, and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tvfsql.errors import Span

if TYPE_CHECKING:
    from tvfsql.catalog.table import Table


class Outside(Protocol):
    """Spark's catalogs. Names have one to three parts, with dots; those with one are in Spark's current database.

    The methods raise DataError if a catalog does not answer.
    """

    def table(self, name: str) -> Table | None:
        """The table or view of that name. Within a statement each call returns the same."""

    def tables(self, database: str = "") -> tuple[str, ...]:
        """The tables and views of a database, or of the current one, by their names there."""

    def databases(self, catalog: str = "") -> tuple[str, ...]:
        """The databases of a catalog, or of the current one."""

    def catalogs(self) -> tuple[str, ...]:
        """The catalogs that Spark knows."""

    def checked(self, table: Table, span: Span) -> Table:
        """A table of CREATE TABLE. If it stands for one of Spark's that lacks a column, raises BindError at `span`."""

    def drop_view(self, table: Table) -> None:
        """Drop the temporary view of a registered DataFrame, whose table is dropped."""

    def forget(self) -> None:
        """Ask Spark again: a statement begins."""


class Files(Protocol):
    """Local files whose paths stand in FROM."""

    def table(self, name: str) -> Table | None:
        """The table of the file at that path; None: its name is not that of a file. Within a statement each call
        returns the same. Raises BindError."""

    def hint(self, name: str) -> str | None:
        """What to write instead of the path of a local file that does not exist, or of a folder; None for others."""
