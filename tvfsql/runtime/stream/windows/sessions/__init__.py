"""Session windows of streams: what is open, what closes, and what is emitted early and late."""
