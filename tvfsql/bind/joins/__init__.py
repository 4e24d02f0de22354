"""Binds joins, and UNNEST, which is a join with the elements of each row."""
