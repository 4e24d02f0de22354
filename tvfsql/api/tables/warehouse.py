"""The storage of tables without a connector, for one session or permanently."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory


@dataclass
class Warehouse:
    """The folders of tables: below `root`, or in a temporary folder that only the user can read and that is deleted
    with this object.
    """

    made: dict[str, int] = field(default_factory=dict)  # how many tables of each name were made in the temporary folder
    _temporary: TemporaryDirectory[str] | None = None

    def folder(self, root: str, name: str) -> str:
        """The folder of a new table. If `root` already has rows of a table of that name, the table has them."""
        if root:
            return os.path.join(root, name)
        if self._temporary is None:
            self._temporary = TemporaryDirectory(prefix="tvfsql-warehouse-", ignore_cleanup_errors=True)
        number = self.made[name] = self.made.get(name, 0) + 1
        return os.path.join(self._temporary.name, name if number == 1 else f"{name}-{number}")

    def delete(self, path: str) -> bool:
        """Delete a table's rows. Returns False if they are on another machine, where nothing is deleted."""
        if re.match(r"[a-zA-Z][\w+.-]+:", path):
            return False
        shutil.rmtree(path, ignore_errors=True)
        return True
