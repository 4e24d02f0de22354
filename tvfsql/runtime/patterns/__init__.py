"""MATCH_RECOGNIZE over rows in order, for both modes: finds the matches of a pattern, and what may still become one."""
