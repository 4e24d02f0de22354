"""Passwords in WITH options: which options are secret, and texts with the secrets hidden."""

from __future__ import annotations

import re
from collections.abc import Callable

HOLDS = re.compile(
    r"passw|user-info|secret|token|jaas|credential|private|(?:access|account|api|encryption)[._-]?key", re.IGNORECASE
)
ASSIGNED = re.compile(r"('(?:''|[^'])*')(\s*=\s*)'((?:''|[^'])*)'")
LITERAL = r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
PAIRS = (re.compile(rf"(option\(\s*){LITERAL}(\s*,\s*){LITERAL}"), re.compile(rf"(){LITERAL}(:\s*){LITERAL}"))
URL = re.compile(r"jdbc:|://")
# passwords in a URL: before the host, and as parameters
IN_URL = (
    re.compile(r"((?<=:)//[^/?#@:\s]*:|jdbc:oracle:\w+:[^/@\s]*/)([^/?#@\s]+)(?=@)"),
    re.compile(r"((?:passw|secret|token)\w*=)([^&;\s]+)", re.IGNORECASE),
)
STARS = "******"
# '${ENV:NAME}' in an option's value is read from the environment when the program runs
OF_ENVIRONMENT = re.compile(r"\$\{ENV:([A-Za-z_][A-Za-z0-9_]*)\}")


def is_secret(key: str, value: str) -> bool:
    """Whether an option's value must be hidden. A reference to the environment is not a secret."""
    return bool(HOLDS.search(key)) and bool(OF_ENVIRONMENT.sub("", value))


def shown(key: str, value: str) -> str:
    """An option's value with secrets hidden."""
    return STARS if is_secret(key, value) else without_passwords(value)


def without_passwords(url: str, hide: Callable[[str], str] = lambda secret: STARS) -> str:
    """A URL with its passwords replaced by `hide`. Another text is returned as it is."""

    def hidden(found: re.Match[str]) -> str:
        return f"{found[1]}{hide(found[2])}" if OF_ENVIRONMENT.sub("", found[2]) else found[0]

    for place in IN_URL if URL.search(url) else ():
        url = place.sub(hidden, url)
    return url


def stars(sql: str) -> str:
    """The SQL with each secret replaced by as many asterisks, so that positions stay right."""

    def as_many(secret: str) -> str:
        return "*" * len(secret)

    def hidden(found: re.Match[str]) -> str:
        key, between, value = found.groups()
        text = as_many(value) if is_secret(key, value) else without_passwords(value, as_many)
        return f"{key}{between}'{text}'"

    return ASSIGNED.sub(hidden, sql) if HOLDS.search(sql) or URL.search(sql) else sql


def without(program: str) -> str:
    """The program with its secrets replaced by stars: values of `.option("k", "v")` and of `{"k": "v"}`, and passwords
    in URLs.
    """

    def hidden(found: re.Match[str]) -> str:
        before, key, between, value = found.groups()
        return f'{before}{key}{between}"{STARS}"' if is_secret(key, value[1:-1]) else found[0]

    for pair in PAIRS:
        program = pair.sub(hidden, program)
    return re.sub(LITERAL, lambda found: f"{found[0][0]}{without_passwords(found[0][1:-1])}{found[0][-1]}", program)
