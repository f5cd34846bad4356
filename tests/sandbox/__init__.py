"""Behaviour of the in-memory API."""
