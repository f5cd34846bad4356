"""`berth run` as a process: one clear line for each thing that makes a start pointless, and an orderly end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import certifi
import urllib3

from tests.controlplane.accounts import Rule, service_account
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.ports import free_port
from tests.controlplane.process import Process, wait_until

COMMAND = [sys.executable, "-m", "scheduler.cli", "run"]
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def fails(*args: str | Path, env: dict[str, str] | None = None) -> str:
    """What it says on standard error when it refuses to start; nothing on standard output, and status 1."""
    command = [*COMMAND, "--bind-address", "127.0.0.1:0", *map(str, args)]
    clean = {name: value for name, value in os.environ.items() if name not in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST")}
    done = subprocess.run(command, env=clean | (env or {}), capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def said(text: str) -> str:
    """The one line."""
    assert text.startswith("berth: ")
    assert text.count("\n") == 1, text
    return text.removeprefix("berth: ").rstrip("\n")


def test_a_kubeconfig_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    wanted = f"kubeconfig {missing}: no such file; give --kubeconfig, set KUBECONFIG or run in a cluster"
    assert said(fails("--kubeconfig", missing)) == wanted
    assert said(fails(env={"KUBECONFIG": str(missing)})) == wanted


def test_a_kubeconfig_that_is_no_kubeconfig(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("a: [b")
    assert said(fails("--kubeconfig", wrong)).startswith(f"kubeconfig {wrong}: not readable as YAML: ")


def test_a_context_that_is_not_in_the_kubeconfig(real_apiserver: ApiServer, tmp_path: Path) -> None:
    kubeconfig = real_apiserver.kubeconfig(tmp_path / "kubeconfig")
    line = said(fails("--kubeconfig", kubeconfig, "--context", "prod"))
    assert line == f"kubeconfig {kubeconfig}: contexts: found 'prod', allowed: test"


def test_a_server_that_cannot_be_reached(real_apiserver: ApiServer, tmp_path: Path) -> None:
    url = f"https://127.0.0.1:{free_port()}"
    kubeconfig = real_apiserver.kubeconfig(tmp_path / "kubeconfig", url=url)
    line = said(fails("--kubeconfig", kubeconfig))
    assert line.startswith(f"kubeconfig {kubeconfig}: {url}: Cannot connect to host")


def test_a_certificate_that_another_authority_has_signed(real_apiserver: ApiServer, tmp_path: Path) -> None:
    kubeconfig = real_apiserver.kubeconfig(tmp_path / "kubeconfig", ca_file=Path(certifi.where()))
    line = said(fails("--kubeconfig", kubeconfig))
    assert line.startswith(f"kubeconfig {kubeconfig}: {real_apiserver.url}: the server's certificate is not trusted: ")


def test_a_token_that_the_server_does_not_accept(real_apiserver: ApiServer, tmp_path: Path) -> None:
    kubeconfig = real_apiserver.kubeconfig(tmp_path / "kubeconfig", token="expired")
    line = said(fails("--kubeconfig", kubeconfig))
    assert line == (
        f"kubeconfig {kubeconfig}: the server does not accept the credentials (HTTP 401); is the token out of date?"
    )


def test_a_configuration_with_an_unknown_field(tmp_path: Path) -> None:
    config = tmp_path / "berth.yaml"
    config.write_text(HEAD + "percentageOfNodeToScore: 50\n")
    line = said(fails("--config", config))
    assert str(config) in line
    assert "percentageOfNodeToScore" in line


def test_all_that_is_wrong_with_a_configuration_is_said_at_once(tmp_path: Path) -> None:
    config = tmp_path / "berth.yaml"
    config.write_text(HEAD + "podMaxBackoffSeconds: 0\npercentageOfNodesToScore: 101\n")
    lines = fails("--config", config).splitlines()
    assert len(lines) == 2
    assert all(line.startswith(f"berth: {config}") for line in lines)


def test_a_configuration_that_is_not_there(tmp_path: Path) -> None:
    assert "No such file" in said(fails("--config", tmp_path / "none.yaml"))


def test_the_lease_of_another_scheduler(tmp_path: Path) -> None:
    config = tmp_path / "berth.yaml"
    config.write_text(HEAD + "leaderElection: {resourceNamespace: kube-system, resourceName: kube-scheduler}\n")
    assert said(fails("--config", config)).startswith(
        "leaderElection: found kube-system/kube-scheduler, which is the lease of kube-scheduler; allowed: "
    )


def test_an_address_that_is_none() -> None:
    assert said(fails("--bind-address", "localhost:http")).startswith(
        "--bind-address: found 'localhost:http', allowed:"
    )


def ready(port: int) -> tuple[int, str]:
    """Status and text of /readyz; 0 while nothing listens."""
    with urllib3.PoolManager(retries=False, timeout=2.0) as pool:
        try:
            answer = pool.request("GET", f"http://127.0.0.1:{port}/readyz")
        except urllib3.exceptions.HTTPError:
            return 0, ""
        return answer.status, answer.data.decode()


def test_without_rights_it_names_them_and_is_not_ready(
    real_apiserver: ApiServer, real_namespace: str, tmp_path: Path
) -> None:
    pods = Rule(("pods",), ("get", "list", "watch"))
    token = service_account(real_apiserver, real_namespace, "reader", pods)
    kubeconfig = real_apiserver.kubeconfig(tmp_path / "kubeconfig", token=token)
    port = free_port()
    command = [*COMMAND, "--kubeconfig", str(kubeconfig), "--bind-address", f"127.0.0.1:{port}"]
    rights = (
        "list nodes in all namespaces",
        "watch nodes in all namespaces",
        "create pods/binding in all namespaces",
        "patch pods/status in all namespaces",
        "create leases.coordination.k8s.io in namespace berth-system",
        "update leases.coordination.k8s.io berth in namespace berth-system",
    )

    def told() -> bool:
        status, text = ready(port)
        return status == 503 and all(f"right {right}: missing" in text for right in rights)

    with Process(command, tmp_path / "berth.log") as berth:
        berth.wait_until(told, 30, "missing rights are told")
        assert "list pods in all namespaces" not in ready(port)[1]
        assert "Traceback" not in berth.tail()


def test_it_ends_in_good_order_when_told_to(real_apiserver: ApiServer, real_namespace: str, tmp_path: Path) -> None:
    config = tmp_path / "berth.yaml"
    config.write_text(HEAD + f"leaderElection: {{resourceNamespace: {real_namespace}}}\n")
    kubeconfig = real_apiserver.kubeconfig(tmp_path / "kubeconfig")
    port = free_port()
    command = [*COMMAND, "--config", str(config), "--kubeconfig", str(kubeconfig)]
    with Process([*command, "--bind-address", f"127.0.0.1:{port}"], tmp_path / "berth.log") as berth:
        berth.wait_until(lambda: ready(port)[0] == 200, 30, "it is ready")
        os.kill(berth.pid, signal.SIGTERM)
        wait_until(lambda: berth.returncode is not None, 15, "it ends")
        assert berth.returncode == 0
        assert '"event":"stopped"' in berth.tail()
