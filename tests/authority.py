"""TLS certificates for tests."""

import ssl
import subprocess
from pathlib import Path


class Authority:
    """A certificate authority in a folder with a server certificate, for this machine, and a client certificate."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=ca", out="ca", key="ca"
        )
        for name in ("server", "client"):
            self._openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", out=f"{name}.csr", key=name)
            extension = folder / "san"
            extension.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
            signing = ["-CA", self.path("ca"), "-CAkey", self.path("ca.key"), "-CAcreateserial", "-days", "2"]
            command = ["openssl", "x509", "-req", "-in", self.path(f"{name}.csr"), *signing, "-extfile", str(extension)]
            subprocess.run([*command, "-out", self.path(name)], check=True, capture_output=True)

    def path(self, name: str) -> str:
        """The file of a certificate (ca, server, client), or of its key (with .key behind it)."""
        return str(self.folder / name)

    def server_context(self) -> ssl.SSLContext:
        """For a server that asks its clients for a certificate of this authority."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.path("ca"))
        context.load_cert_chain(self.path("server"), self.path("server.key"))
        context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _openssl(self, *words: str, out: str, key: str) -> None:
        command = ["openssl", *words, "-out", self.path(out), "-keyout", self.path(f"{key}.key")]
        subprocess.run(command, check=True, capture_output=True)
