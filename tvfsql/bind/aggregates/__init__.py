"""Binds aggregate calls, the spelled forms of other dialects, and grouping sets."""
