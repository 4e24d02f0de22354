"""Rules of joins: conditions into their sides, windows, intervals, streams that wait."""
