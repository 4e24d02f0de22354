"""Highlights SQL during typing: a pygments lexer with Flink's keywords."""

from __future__ import annotations

import re

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from tvfsql.shell.completion import KEYWORDS
from tvfsql.syntax.parser import STARTS
from tvfsql.syntax.tokens import FUNCTIONS

ALL = tuple(sorted({*KEYWORDS, *(each for each in STARTS if each.isalpha())}, key=len, reverse=True))


class FlinkLexer(RegexLexer):
    """Statements and commands of the shell. A string or comment that is still open extends to the end."""

    name = "tvfsql"
    flags = re.IGNORECASE
    tokens = {
        "root": [
            (r"\A\s*(\\\S*|\.[a-z]+)(.*)", bygroups(Name.Builtin, Text)),  # type: ignore[no-untyped-call]
            (r"\s+", Text),
            (r"--[^\n]*", Comment.Single),
            (r"/\*(.|\n)*?(\*/|\Z)", Comment.Multiline),
            (r"'(''|[^'])*('|\Z)", String),
            (r"`(``|[^`])*(`|\Z)", Name),
            (words(FUNCTIONS, prefix=r"\b", suffix=r"(?=\s*\()"), Name.Builtin),
            (words(ALL, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"[^\W\d][\w$]*(?=\s*\()", Name.Function),
            (r"[^\W\d][\w$]*", Name),
            (r"\d+(\.\d+)?(e[+-]?\d+)?", Number),
            (r"[(),;.\[\]]", Punctuation),
            (r".", Operator),
        ]
    }
