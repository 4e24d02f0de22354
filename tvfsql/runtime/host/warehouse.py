"""The folders of tables without a connector."""

from __future__ import annotations

import os
import re


def managed_folder(path: str) -> str:
    """The folder of such a table. It is created here, so it exists before any row is inserted."""
    if not re.match(r"[a-zA-Z][\w+.-]+:", path):
        os.makedirs(path, mode=0o700, exist_ok=True)
    return path
