"""Spark SQL as text: of expressions, and of queries that Spark plans."""
