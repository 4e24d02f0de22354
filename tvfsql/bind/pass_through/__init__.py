"""Queries that Spark plans: the binder gives it their text, with Flink's functions and types in Spark's words."""
