"""Row-level operators of streams: deduplication, interval join, and Top-N of a window's rows.

Windows are in `windows`.
"""
