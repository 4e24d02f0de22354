"""Values that a program takes from the environment when it runs, such as passwords, which are in no script."""

from __future__ import annotations

import os
import re

from tvfsql.errors import DataError
from tvfsql.secrets import OF_ENVIRONMENT


def from_environment(text: str) -> str:
    """The text with each `${ENV:NAME}` replaced by its value. Raises DataError if the environment lacks it."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in os.environ:
            raise DataError(
                f"the environment variable {name} is not set, but an option of a table uses it",
                hint=f"export {name}=...",
            )
        return os.environ[name]

    return OF_ENVIRONMENT.sub(value, text)
