"""Reading checkpoints from outside, without writing: what `tvfsql state` prints."""

STATE_TABLES = ("streams", "operators", "channels", "windows", "timers", "key-groups")
