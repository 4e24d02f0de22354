"""Row operators that pair the rows of two streams."""
