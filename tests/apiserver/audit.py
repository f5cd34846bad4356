"""What was written to an API server and by whom, from its own audit log."""

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

JsonObject = dict[str, Any]

_POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Request
  verbs: [create, update, patch, delete]
  resources:
  - {group: "", resources: [pods, "pods/*", events]}
  - {group: events.k8s.io, resources: [events]}
- level: None
"""


class AuditLog:
    """The audit log of a server that was started with `flags`."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "audit.jsonl"
        self._policy = folder / "audit-policy.yaml"
        self._policy.write_text(_POLICY)

    @property
    def flags(self) -> list[str]:
        """Flags of kube-apiserver that make it write this log."""
        return [
            f"--audit-policy-file={self._policy}",
            f"--audit-log-path={self._log}",
            "--audit-log-mode=blocking",
            "--audit-log-maxsize=0",
        ]

    def writes(self, user: str) -> list[JsonObject]:
        """All writes of a user that succeeded or failed, in order."""
        lines = self._log.read_bytes().splitlines() if self._log.exists() else []
        entries = (msgspec.json.decode(line, type=dict[str, Any]) for line in lines if line.endswith(b"}"))
        return [entry for entry in entries if entry["user"]["username"] == user]

    def bindings(self, user: str) -> list[JsonObject]:
        """The Bindings among them."""
        return [entry for entry in self.writes(user) if resource_of(entry) == "pods/binding"]

    def counts(self, user: str) -> Counter[str]:
        """How many writes by verb and resource, those that were carried out."""
        carried_out = [entry for entry in self.writes(user) if entry["responseStatus"]["code"] < 300]
        return Counter(f"{entry['verb']} {resource_of(entry)}" for entry in carried_out)


def resource_of(entry: JsonObject) -> str:
    """Resource and subresource of an entry."""
    ref = entry["objectRef"]
    return f"{ref['resource']}/{ref['subresource']}" if ref.get("subresource") else str(ref["resource"])
