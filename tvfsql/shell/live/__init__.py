"""Streams to look at: their rows in a table, or as changes, that follow the stream on the whole screen."""
