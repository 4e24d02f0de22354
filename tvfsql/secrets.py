"""Passwords in WITH options: which options are secret, and texts with the secrets hidden."""

from __future__ import annotations

import re

HOLDS = re.compile(r"passw|user-info|secret|token|jaas|credential|private|access[._-]?key|api[._-]?key", re.IGNORECASE)
ASSIGNED = re.compile(r"('(?:''|[^'])*')(\s*=\s*)'((?:''|[^'])*)'")
LITERAL = r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
PAIRS = (re.compile(rf"(option\(\s*){LITERAL}(\s*,\s*){LITERAL}"), re.compile(rf"(){LITERAL}(:\s*){LITERAL}"))
STARS = "******"
# '${ENV:NAME}' in an option's value is read from the environment when the program runs
OF_ENVIRONMENT = re.compile(r"\$\{ENV:([A-Za-z_][A-Za-z0-9_]*)\}")


def is_secret(key: str, value: str) -> bool:
    """Whether an option's value must be hidden. A reference to the environment is not a secret."""
    return bool(HOLDS.search(key)) and bool(OF_ENVIRONMENT.sub("", value))


def shown(key: str, value: str) -> str:
    """An option's value with secrets hidden."""
    return STARS if is_secret(key, value) else value


def stars(sql: str) -> str:
    """The SQL with each secret replaced by as many asterisks, so that positions stay right."""

    def hidden(found: re.Match[str]) -> str:
        key, between, value = found.groups()
        return f"{key}{between}'{'*' * len(value)}'" if is_secret(key, value) else found[0]

    return ASSIGNED.sub(hidden, sql) if HOLDS.search(sql) else sql


def without(program: str) -> str:
    """The program with its secrets replaced by stars: values of `.option("k", "v")` and of `{"k": "v"}`."""

    def hidden(found: re.Match[str]) -> str:
        before, key, between, value = found.groups()
        return f'{before}{key}{between}"{STARS}"' if is_secret(key, value[1:-1]) else found[0]

    for pair in PAIRS:
        program = pair.sub(hidden, program)
    return program
