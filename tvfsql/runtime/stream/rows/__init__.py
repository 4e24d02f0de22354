"""Row operators of streams: deduplication, interval join, and Top-N of the rows of a window.

Window operators are in `windows`.
"""
