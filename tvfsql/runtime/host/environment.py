"""What a program takes from the environment when it runs: passwords that stand in no script."""

from __future__ import annotations

import os
import re

from tvfsql.errors import DataError
from tvfsql.secrets import OF_ENVIRONMENT


def from_environment(text: str) -> str:
    """The text with what the environment has for each `${ENV:NAME}`. Raises DataError if it has none."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in os.environ:
            raise DataError(
                f"the environment has no {name}, which an option of a table takes from it", hint=f"export {name}=..."
            )
        return os.environ[name]

    return OF_ENVIRONMENT.sub(value, text)
