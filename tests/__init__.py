"""Tests, foldered by behaviour."""
