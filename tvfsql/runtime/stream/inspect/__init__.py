"""Checkpoints read from outside: what `tvfsql state` prints. Nothing here writes."""

STATE_TABLES = ("streams", "operators", "channels", "windows", "timers", "key-groups")
