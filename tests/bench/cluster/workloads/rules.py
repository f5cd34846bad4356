"""The hard rules of workloads: each looks at where the measured pods are, and says what is wrong, if anything."""

from collections import Counter, defaultdict

from tests.bench.cluster.workloads.model import ZONE, Placements, Rule


def on_labelled_nodes(key: str, value: str) -> Rule:
    """All pods are on nodes with this label."""

    def rule(placements: Placements) -> str | None:
        for pod in placements.pods:
            node = placements.nodes[pod["spec"]["nodeName"]]
            if node["metadata"]["labels"].get(key) != value:
                return f"{pod['metadata']['name']} is on {node['metadata']['name']}, which is not {key}={value}"
        return None

    return rule


def evenly_spread(max_skew: int) -> Rule:
    """The pods of an app are spread over zones: none has more than `max_skew` above the fewest."""

    def rule(placements: Placements) -> str | None:
        zones = {node["metadata"]["labels"][ZONE] for node in placements.nodes.values()}
        for app, counts in by_zone(placements).items():
            skew = max(counts.values()) - min(counts[zone] for zone in zones)
            if skew > max_skew:
                return f"{app} is spread {dict(counts)} over zones, allowed: a skew of {max_skew}"
        return None

    return rule


def apart(key: str) -> Rule:
    """No two pods of an app are in one domain."""

    def rule(placements: Placements) -> str | None:
        seen: set[tuple[str, str]] = set()
        for pod in placements.pods:
            app = pod["metadata"]["labels"]["app"]
            domain = placements.nodes[pod["spec"]["nodeName"]]["metadata"]["labels"][key]
            if (app, domain) in seen:
                return f"two pods of {app} are on {domain}"
            seen.add((app, domain))
        return None

    return rule


def together(key: str) -> Rule:
    """All pods of an app are in one domain."""

    def rule(placements: Placements) -> str | None:
        domains: dict[str, set[str]] = defaultdict(set)
        for pod in placements.pods:
            node = placements.nodes[pod["spec"]["nodeName"]]
            domains[pod["metadata"]["labels"]["app"]].add(node["metadata"]["labels"][key])
        split = {app: found for app, found in domains.items() if len(found) > 1}
        return f"apps are in several domains: {split}" if split else None

    return rule


def by_zone(placements: Placements) -> dict[str, Counter[str]]:
    """How many pods of each app are in each zone."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for pod in placements.pods:
        counts[pod["metadata"]["labels"]["app"]][placements.zone_of(pod)] += 1
    return counts
