"""The live driver: the engine on a real API server. Only here (and in the sandbox) is there a clock, a socket, a thread."""
