"""Tables with generated rows, as their WITH clauses describe them."""
