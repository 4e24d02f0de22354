"""Names as SQL text."""

from __future__ import annotations

import re

# Words that Spark's parser does not read as a column in an expression.
NOT_BARE = frozenset(
    "and any array as between both by case cast collate create cross current_date current_time "
    "current_timestamp current_user date day distinct div else end exists extract false filter for from full "
    "grant group having hour in inner interval into is join lateral leading left like limit map minute month "
    "natural not null on or order outer overlaps position right rlike second select session_user some struct "
    "table then timestamp timestamp_ltz timestamp_ntz to trailing trim true union unique unknown user using "
    "when where with within x year".split()
)


def quoted(name: str) -> str:
    """A name as SQL text: bare if Spark reads it as that name, else in backticks."""
    bare = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in NOT_BARE
    return name if bare else backticked(name)


def backticked(name: str) -> str:
    """A name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def bare(text: str) -> str:
    """The name that a text like that of `quoted` stands for."""
    return text[1:-1].replace("``", "`") if text.startswith("`") else text
