"""What an INSERT does with a row whose primary key another row has: ON CONFLICT DO ... of Flink 2.3."""

NOTHING = "NOTHING"  # the first row of a key stays
ERROR = "ERROR"  # the INSERT fails
DEDUPLICATE = "DEDUPLICATE"  # the last row of a key stays
CONFLICTS = (NOTHING, ERROR, DEDUPLICATE)
