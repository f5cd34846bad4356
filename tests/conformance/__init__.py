"""The same requests against the sandbox and against a real API server.

A story makes requests; what came back, with everything that differs from run to run taken out, is compared with a recording of
what kube-apiserver answered. `pytest tests/conformance --record` writes the recordings anew from the real server.
"""
