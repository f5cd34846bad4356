"""etcd and kube-apiserver. Not here: what connects to them (components.py), accounts with fewer rights (accounts.py)."""

import secrets
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

import urllib3
import yaml
from kubernetes.client import ApiClient, Configuration

from tests.controlplane.binaries import Binaries
from tests.controlplane.ports import free_port
from tests.controlplane.process import Process

READY_SECONDS = 60.0

# TaintNodesByCondition: nodes that a test makes would be born with the not-ready taint that only a controller removes.
# ServiceAccount: pods would be refused until a controller has made the namespace's default account.
ADMISSION_OFF = ("TaintNodesByCondition", "ServiceAccount")


class ApiServer:
    """A kube-apiserver over its own etcd; data, certificate, tokens and ports stay the same across kill() and start().

    `token` is that of a member of system:masters. The server signs itself: its certificate is its own CA, and its key
    signs the service-account tokens too. `extra` flags come last, so that they win.
    """

    def __init__(
        self,
        binaries: Binaries,
        folder: Path,
        extra: Sequence[str] = (),
        admission_off: Sequence[str] = ADMISSION_OFF,
        port: int | None = None,
    ) -> None:
        self.binaries = binaries
        self.folder = folder
        self.token = secrets.token_hex(16)
        self._etcd_ports = free_port(), free_port()
        self._port = port or free_port()
        self._extra = [*extra]
        self._admission_off = admission_off
        self._etcd: Process | None = None
        self._server: Process | None = None
        (folder / "tokens.csv").write_text(f'{self.token},admin,admin,"system:masters"\n')

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    @property
    def etcd_url(self) -> str:
        return f"http://127.0.0.1:{self._etcd_ports[0]}"

    @property
    def ca_file(self) -> Path:
        return self.folder / "certs" / "apiserver.crt"

    @property
    def key_file(self) -> Path:
        """Signs service-account tokens; a controller manager needs it as well."""
        return self.folder / "certs" / "apiserver.key"

    @property
    def process(self) -> Process:
        """The kube-apiserver that runs now."""
        assert self._server, "the API server is not running"
        return self._server

    @property
    def etcd(self) -> Process:
        assert self._etcd, "etcd is not running"
        return self._etcd

    def start(self) -> None:
        """Start what is not running, and wait until requests are served."""
        if self._etcd is None:
            self._etcd = Process(self._etcd_command(), self.folder / "etcd.log")
        self._server = Process(self._server_command(), self.folder / "kube-apiserver.log")
        self._server.wait_until(self.ready, READY_SECONDS, f"kube-apiserver ready at {self.url}")

    def kill(self) -> None:
        """SIGKILL the API server alone, as a crash would end it; start() brings it back on the same data."""
        self.process.kill()
        self._server = None

    def stop(self) -> None:
        """End both; start() brings them back on the same data."""
        if admin := self.__dict__.pop("admin", None):
            admin.close()
        for process in (self._server, self._etcd):
            if process:
                process.stop()
        self._server = self._etcd = None

    def ready(self) -> bool:
        """Whether /readyz says 200 and the namespace that everybody expects is there."""
        if not self.ca_file.exists():
            return False
        headers = {"Authorization": f"Bearer {self.token}"}
        with urllib3.PoolManager(ca_certs=str(self.ca_file), retries=False, timeout=5.0) as pool:
            try:
                return all(
                    pool.request("GET", self.url + path, headers=headers).status == 200
                    for path in ("/readyz", "/api/v1/namespaces/default")
                )
            except urllib3.exceptions.HTTPError:
                return False

    @cached_property
    def admin(self) -> ApiClient:
        """The official client with the administrator's token; closed with the server."""
        return self.client(self.token)

    def log_files(self) -> list[Path]:
        """Its own, and those of what was started beside it."""
        return sorted(self.folder.glob("*.log"))

    def client(self, token: str) -> ApiClient:
        """The official client with another token, to be closed by the caller."""
        authorization = {"authorization": f"Bearer {token}"}
        return ApiClient(Configuration(host=self.url, api_key=authorization, ssl_ca_cert=str(self.ca_file)))

    def kubeconfig(
        self,
        path: Path,
        token: str | None = None,
        url: str | None = None,
        ca_file: Path | None = None,
        namespace: str = "default",
    ) -> Path:
        """Write a kubeconfig with one context, `test`; what is not given is the administrator's, and right."""
        cluster = {"server": url or self.url, "certificate-authority": str(ca_file or self.ca_file)}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": {"token": token or self.token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": namespace}}],
            "current-context": "test",
        }
        path.write_text(yaml.safe_dump(document))
        return path

    def _etcd_command(self) -> list[str | Path]:
        client, peer = (f"http://127.0.0.1:{port}" for port in self._etcd_ports)
        return [
            self.binaries.path("etcd"),
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ]

    def _server_command(self) -> list[str | Path]:
        return [
            self.binaries.path("kube-apiserver"),
            f"--etcd-servers=http://127.0.0.1:{self._etcd_ports[0]}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self._port}",
            f"--cert-dir={self.folder / 'certs'}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            f"--service-account-issuer={self.url}",
            f"--service-account-key-file={self.key_file}",
            f"--service-account-signing-key-file={self.key_file}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--allow-privileged=true",
            "--runtime-config=api/all=true",
            f"--disable-admission-plugins={','.join(self._admission_off)}",
            "--enable-priority-and-fairness=false",
            "--max-requests-inflight=4000",
            "--max-mutating-requests-inflight=2000",
            *self._extra,
        ]

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
