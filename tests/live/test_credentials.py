"""Credentials as kubeconfigs hold them: tokens that rotate, plugins, client certificates, and clear words for what is wrong."""

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from scheduler.live.client import HttpTransport
from scheduler.live.credentials import Credentials
from scheduler.live.errors import NoAnswerError, SetupError, UntrustedServerError
from tests.authority import Authority

JsonObject = dict[str, Any]


def kubeconfig(folder: Path, user: JsonObject, **cluster: object) -> str:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1", **cluster}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(document))
    return str(path)


async def test_a_token_file_that_is_replaced_gives_the_new_token(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old\n")
    credentials = Credentials(kubeconfig(tmp_path, {"tokenFile": str(token)}), None)
    assert (await credentials.load()).authorization == "Bearer old"
    replacement = tmp_path / "new"
    replacement.write_text("new\n")
    replacement.rename(token)
    assert (await credentials.load()).authorization == "Bearer new"


def plugin(folder: Path, body: str) -> JsonObject:
    script = folder / "plugin"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    version = "client.authentication.k8s.io/v1"
    return {"exec": {"apiVersion": version, "command": str(script), "interactiveMode": "Never"}}


async def test_an_exec_plugin_is_asked_each_time(tmp_path: Path) -> None:
    count = tmp_path / "count"
    body = (
        f"echo x >> {count}; n=$(wc -l < {count} | tr -d ' ')\n"
        'echo "{\\"kind\\": \\"ExecCredential\\", \\"apiVersion\\": \\"client.authentication.k8s.io/v1\\",'
        ' \\"status\\": {\\"token\\": \\"t$n\\"}}"'
    )
    credentials = Credentials(kubeconfig(tmp_path, plugin(tmp_path, body)), None)
    assert [(await credentials.load()).authorization for _ in range(2)] == ["Bearer t1", "Bearer t2"]


async def test_an_exec_plugin_that_fails_is_named(tmp_path: Path) -> None:
    credentials = Credentials(kubeconfig(tmp_path, plugin(tmp_path, "exit 3")), None)
    with pytest.raises(SetupError, match=r"kubeconfig .*: the exec plugin '.*/plugin' gave no credentials"):
        await credentials.load()


def changed(path: str, change: Callable[[JsonObject], object]) -> str:
    tree = yaml.safe_load(Path(path).read_text())
    change(tree)
    Path(path).write_text(yaml.safe_dump(tree))
    return path


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda tree: tree.pop("current-context"), "current-context: not set, and no --context given"),
        (lambda tree: tree.update({"current-context": "y"}), "contexts: found 'y', allowed: x"),
        (lambda tree: tree.update(users=[]), "context x: user: found 'u', allowed: none"),
        (lambda tree: tree.update(clusters=[]), "context x: cluster: found 'c', allowed: none"),
    ],
)
async def test_what_does_not_fit_together_is_told_in_one_line(
    tmp_path: Path, change: Callable[[JsonObject], object], told: str
) -> None:
    path = changed(kubeconfig(tmp_path, {}), change)
    with pytest.raises(SetupError) as error:
        await Credentials(path, None).load()
    assert told in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("text", "told"), [("{", "not readable as YAML"), ("[]", "found list, allowed: a mapping")])
async def test_a_file_that_is_no_kubeconfig_is_told_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(SetupError, match=told) as error:
        await Credentials(str(path), None).load()
    assert "\n" not in str(error.value)


async def answer(port_of: web.AppRunner, authority: Authority) -> str:
    """Serve over TLS to who has a certificate of this authority."""
    await port_of.setup()
    await web.TCPSite(port_of, "127.0.0.1", 0, ssl_context=authority.server_context()).start()
    return f"https://127.0.0.1:{port_of.addresses[0][1]}"


async def test_client_certificates_open_a_server_that_asks_for_them_and_another_authority_is_not_trusted(
    tmp_path: Path,
) -> None:
    authority, stranger = Authority(tmp_path / "a"), Authority(tmp_path / "b")
    app = web.Application()
    app.router.add_get("/version", version)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    url = await answer(runner, authority)
    certificate = {"client-certificate": authority.path("client"), "client-key": authority.path("client.key")}
    try:
        trusted = kubeconfig(tmp_path, certificate, server=url, **{"certificate-authority": authority.path("ca")})
        assert await status(trusted) == 200
        anonymous = kubeconfig(tmp_path, {}, server=url, **{"certificate-authority": authority.path("ca")})
        with pytest.raises(NoAnswerError):
            await status(anonymous)
        wrong = kubeconfig(tmp_path, certificate, server=url, **{"certificate-authority": stranger.path("ca")})
        with pytest.raises(UntrustedServerError, match="certificate is not trusted"):
            await status(wrong)
    finally:
        await runner.cleanup()


async def version(_: web.Request) -> web.Response:
    return web.json_response({})


async def status(path: str) -> int:
    transport = HttpTransport(Credentials(path, None), connections=1)
    try:
        return (await transport.call("GET", "/version", limit=5.0)).status
    finally:
        await transport.close()
