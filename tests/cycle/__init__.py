"""The scheduling and binding cycles with plugins of users at every extension point."""
