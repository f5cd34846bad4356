"""Where the API server is and who berth is to it: kubeconfig or service account, read by the official client."""

import ssl
from dataclasses import dataclass
from os import environ
from pathlib import Path

import yaml
from kubernetes.aio.client import Configuration
from kubernetes.aio.config import ConfigException, load_incluster_config, load_kube_config

from scheduler.live.errors import SetupError

_DEFAULT_KUBECONFIG = "~/.kube/config"


@dataclass(frozen=True, slots=True)
class Connection:
    """A server and the means to talk to it. `ssl` False means that certificates are not checked, by the user's wish."""

    server: str
    ssl: ssl.SSLContext | bool
    authorization: str
    server_name: str | None
    proxy: str | None
    source: str


class Credentials:
    """Reads credentials, again whenever asked: tokens rotate, exec plugins hand out short-lived ones."""

    def __init__(self, kubeconfig: str | None, context: str | None) -> None:
        in_cluster = "KUBERNETES_SERVICE_HOST" in environ and not kubeconfig and not context
        self._kubeconfig = None if in_cluster else kubeconfig or environ.get("KUBECONFIG") or _DEFAULT_KUBECONFIG
        self._context = context
        self._trusted: tuple[tuple[object, ...], ssl.SSLContext | bool] | None = None

    async def load(self) -> Connection:
        """The connection as the files say now. Raises SetupError with one clear line."""
        configuration = Configuration()
        if self._kubeconfig is None:
            self._load_service_account(configuration)
            source = "service account"
        else:
            await self._load_kubeconfig(self._kubeconfig, configuration)
            source = f"kubeconfig {self._kubeconfig}"
        return Connection(
            server=str(configuration.host).rstrip("/"),
            ssl=self._ssl(configuration, source),
            authorization=str(configuration.api_key.get("BearerToken", "")).strip(),
            server_name=configuration.tls_server_name,
            proxy=configuration.proxy,
            source=source,
        )

    def _load_service_account(self, configuration: Configuration) -> None:
        try:
            load_incluster_config(client_configuration=configuration, try_refresh_token=False)
        except (ConfigException, OSError) as error:
            raise SetupError(f"service account: {error}") from error

    async def _load_kubeconfig(self, paths: str, configuration: Configuration) -> None:
        user = _check_kubeconfig(paths, self._context)
        try:
            await load_kube_config(paths, self._context, configuration, persist_config=False)
        except (ConfigException, ValueError, KeyError, TypeError, OSError) as error:
            raise SetupError(f"kubeconfig {paths}: {' '.join(str(error).split())}") from error
        if "exec" in user and not configuration.api_key and not configuration.cert_file:
            command = user["exec"].get("command") if isinstance(user["exec"], dict) else user["exec"]
            raise SetupError(f"kubeconfig {paths}: the exec plugin {command!r} gave no credentials")

    def _ssl(self, configuration: Configuration, source: str) -> ssl.SSLContext | bool:
        """The one place where trust is set up. Reused while the files are the same, for a context costs milliseconds."""
        if not str(configuration.host).startswith("https"):
            return False
        files = (configuration.ssl_ca_cert, configuration.cert_file, configuration.key_file)
        key = (configuration.verify_ssl, *files, *(_content(file) for file in files))
        if self._trusted is not None and self._trusted[0] == key:
            return self._trusted[1]
        try:
            context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
            # Python 3.13 asks more of CA certificates than older clusters' have; kubectl does not (kubernetes-client #2394).
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            if not configuration.verify_ssl:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            if configuration.cert_file:
                context.load_cert_chain(configuration.cert_file, configuration.key_file)
        except (ssl.SSLError, OSError) as error:
            raise SetupError(f"{source}: certificates cannot be used: {error}") from error
        self._trusted = (key, context)
        return context


def _content(path: str | None) -> bytes:
    return Path(path).read_bytes() if path and Path(path).exists() else b""


def _check_kubeconfig(paths: str, context: str | None) -> dict[str, object]:
    """The user section that will be used; errors that the library tells badly are told here."""
    files = [Path(path).expanduser() for path in paths.split(":") if path]
    present = [file for file in files if file.is_file()]
    if not present:
        raise SetupError(f"kubeconfig {paths}: no such file; give --kubeconfig, set KUBECONFIG or run in a cluster")
    merged: dict[str, list[dict[str, object]]] = {"contexts": [], "users": [], "clusters": []}
    current = context
    for file in present:
        try:
            tree = yaml.safe_load(file.read_text())
        except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
            raise SetupError(f"kubeconfig {file}: not readable as YAML: {' '.join(str(error).split())}") from error
        if not isinstance(tree, dict):
            raise SetupError(
                f"kubeconfig {file}: found {type(tree).__name__}, allowed: a mapping with clusters, users and contexts"
            )
        for section, entries in merged.items():
            entries += [entry for entry in tree.get(section) or [] if isinstance(entry, dict)]
        current = current or tree.get("current-context")
    if not current:
        raise SetupError(f"kubeconfig {paths}: current-context: not set, and no --context given")
    chosen = _named(merged["contexts"], "context", current, f"kubeconfig {paths}: contexts")
    _named(merged["clusters"], "cluster", chosen.get("cluster"), f"kubeconfig {paths}: context {current}: cluster")
    if chosen.get("user") is None:
        return {}
    return _named(merged["users"], "user", chosen["user"], f"kubeconfig {paths}: context {current}: user")


def _named(entries: list[dict[str, object]], field: str, name: object, path: str) -> dict[str, object]:
    for entry in entries:
        found = entry.get(field)
        if entry.get("name") == name:
            return found if isinstance(found, dict) else {}
    known = ", ".join(str(entry.get("name")) for entry in entries) or "none"
    raise SetupError(f"{path}: found {name!r}, allowed: {known}")
