"""Free TCP ports on loopback."""

import random
import socket

BELOW_EPHEMERAL = range(20000, 30000)


def free_port() -> int:
    """A port nobody listens on, outside the range that outgoing connections use.

    From the ephemeral range, a client that keeps dialling a server which is down would sooner or later
    be given that very port as its source, connect to itself, and keep the server from coming back.
    """
    for port in random.SystemRandom().sample(BELOW_EPHEMERAL, 200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError(f"no free port found in {BELOW_EPHEMERAL}")
