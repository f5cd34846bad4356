"""Schedulers side by side on a real API server: `make bench`."""
