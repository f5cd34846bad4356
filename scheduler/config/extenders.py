"""extenders: what kube-scheduler 1.36 allows of them, and what it does because of them to the profiles."""

import binascii
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from scheduler.config import wire
from scheduler.config.durations import seconds
from scheduler.config.model import Extender, ExtenderTls, Profile
from scheduler.config.problems import Problems
from scheduler.framework import Plugin
from scheduler.names import is_extended

DEFAULT_TIMEOUT = 5.0
_SCHEMES = ("http://", "https://")
_RESOURCES_PLUGIN = "NodeResourcesFit"


def extenders(given: Sequence[wire.Extender], problems: Problems) -> tuple[Extender, ...]:
    """The extenders in the order in which they are called: those that may be ignored come last."""
    _check_binders(given, problems)
    _check_resources(given, problems)
    made = [_extender(extender, i, given, problems) for i, extender in enumerate(given)]
    return tuple(sorted(made, key=lambda extender: extender.ignorable))


def without_managed(
    profiles: Sequence[Profile], given: Sequence[wire.Extender], registry: Mapping[str, type[Plugin]]
) -> tuple[Profile, ...]:
    """The profiles with resources that are `ignoredByScheduler` left to their extender.

    As in kube-scheduler these take the place of NodeResourcesFit's own ignoredResources, in every profile.
    """
    ignored = tuple(r.name for extender in given for r in extender.managed_resources if r.ignored_by_scheduler)
    kind = registry.get(_RESOURCES_PLUGIN)
    if not ignored or kind is None:
        return tuple(profiles)

    def changed(profile: Profile) -> Profile:
        fields = msgspec.to_builtins(profile.args.get(_RESOURCES_PLUGIN, kind.Args()))
        args = msgspec.convert({**fields, "ignoredResources": ignored}, kind.Args)
        return replace(profile, args={**profile.args, _RESOURCES_PLUGIN: args})

    return tuple(changed(profile) for profile in profiles)


def _extender(given: wire.Extender, number: int, among: Sequence[wire.Extender], problems: Problems) -> Extender:
    path = f"extenders[{number}]"
    url = given.url_prefix
    if not any(url.startswith(scheme) and len(url) > len(scheme) for scheme in _SCHEMES):
        problems.add(f"{path}.urlPrefix", f'found "{url}", allowed: a URL such as http://extender.example:8888')
    if given.prioritize_verb and given.weight <= 0:
        problems.add(f"{path}.weight", f"found {given.weight}, allowed: 1 and more, for it has a prioritizeVerb")
    several = sum(extender.url_prefix == url for extender in among) > 1
    return Extender(
        name=f"{url} ({number + 1})" if several else url,
        url_prefix=url,
        filter_verb=given.filter_verb,
        prioritize_verb=given.prioritize_verb,
        preempt_verb=given.preempt_verb,
        bind_verb=given.bind_verb,
        weight=given.weight,
        timeout=seconds(given.http_timeout, DEFAULT_TIMEOUT, f"{path}.httpTimeout", problems),
        node_cache_capable=given.node_cache_capable,
        managed_resources=frozenset(resource.name for resource in given.managed_resources),
        ignorable=given.ignorable,
        tls=_tls(given, f"{path}.tlsConfig", problems),
    )


def _check_binders(given: Sequence[wire.Extender], problems: Problems) -> None:
    binders = [i for i, extender in enumerate(given) if extender.bind_verb]
    for i in binders[1:]:
        text = f'found "{given[i].bind_verb}", allowed: none, for extenders[{binders[0]}] binds already'
        problems.add(f"extenders[{i}].bindVerb", text)


def _check_resources(given: Sequence[wire.Extender], problems: Problems) -> None:
    seen: set[str] = set()
    for i, extender in enumerate(given):
        for j, resource in enumerate(extender.managed_resources):
            path = f"extenders[{i}].managedResources[{j}].name"
            if not is_extended(resource.name):
                allowed = "an extended resource such as example.com/widget"
                problems.add(path, f'found "{resource.name}", allowed: {allowed}')
            elif resource.name in seen:
                problems.add(path, f'found "{resource.name}" again, allowed: once among all extenders')
            seen.add(resource.name)


def _tls(given: wire.Extender, path: str, problems: Problems) -> ExtenderTls:
    """As kube-scheduler's makeTransport: data come before files, and HTTPS without a CA is not verified."""
    tls = given.tls_config or wire.ExtenderTls()
    ca = _data(tls.ca_data, f"{path}.caData", problems)
    certificate = _data(tls.cert_data, f"{path}.certData", problems)
    key = _data(tls.key_data, f"{path}.keyData", problems)
    has_ca = bool(ca or tls.ca_file)
    if tls.insecure and has_ca:
        problems.add(f"{path}.insecure", "found true, allowed: false, for there is a CA to verify with")
    if bool(certificate or tls.cert_file) != bool(key or tls.key_file):
        problems.add(path, "found a certificate without a key, or the reverse, allowed: both or neither")
    return ExtenderTls(
        verify=has_ca or not (tls.insecure or given.enable_https),
        server_name=tls.server_name,
        ca=ca,
        ca_file="" if ca else tls.ca_file,
        certificate=certificate,
        certificate_file="" if certificate else tls.cert_file,
        key=key,
        key_file="" if key else tls.key_file,
    )


def _data(text: str, path: str, problems: Problems) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        problems.add(path, "found something else, allowed: PEM in base64")
        return b""
