"""The storage of tables without a connector, for one session or permanently."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory

from tvfsql.runtime.host.warehouse import delete_folder


@dataclass
class Warehouse:
    """The folders of tables: below `root`, or in a temporary folder that only the user can read and that is deleted
    with this object. The names of folders are those of `folders.file_name`.
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
        # no table's name has a folder with %- and digits only
        return os.path.join(self._temporary.name, name if number == 1 else f"{name}%-{number}")

    def delete(self, path: str) -> str | None:
        """Delete a table's rows. Returns why they stay, such as `which is not on this machine`; None: they are gone."""
        return delete_folder(path)
