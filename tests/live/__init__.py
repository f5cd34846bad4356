"""The live driver against servers that misbehave, and against a real one."""
