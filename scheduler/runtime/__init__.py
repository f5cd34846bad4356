"""Runs the plugins of a profile, by the rules of the Scheduling Framework."""
