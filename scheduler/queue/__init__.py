"""The scheduling queue: what waits, why, and when it may be tried again."""
