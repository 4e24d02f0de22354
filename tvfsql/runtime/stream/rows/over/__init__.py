"""OVER: rows with aggregates of the rows around them."""
