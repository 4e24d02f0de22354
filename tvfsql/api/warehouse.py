"""Where the rows of tables without a connector are, while a session lasts or for longer."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory


@dataclass
class Warehouse:
    """Folders of tables: below `root`, or in a temporary folder that only the user can read and that goes with this."""

    made: dict[str, int] = field(default_factory=dict)  # how often a table of each name was made in the temporary one
    _temporary: TemporaryDirectory[str] | None = None

    def folder(self, root: str, name: str) -> str:
        """The folder of a new table. What `root` has of a table of that name is its rows."""
        if root:
            return os.path.join(root, name)
        if self._temporary is None:
            self._temporary = TemporaryDirectory(prefix="tvfsql-warehouse-", ignore_cleanup_errors=True)
        number = self.made[name] = self.made.get(name, 0) + 1
        return os.path.join(self._temporary.name, name if number == 1 else f"{name}-{number}")

    def delete(self, path: str) -> bool:
        """Delete a table's rows. False if they are where that is not done: on another machine."""
        if re.match(r"[a-zA-Z][\w+.-]+:", path):
            return False
        shutil.rmtree(path, ignore_errors=True)
        return True
