"""Shows streams on the whole screen, as a table or as changes, while they run."""
