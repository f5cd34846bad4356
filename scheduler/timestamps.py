"""Moments as the API writes them: always UTC, always with a Z."""

from datetime import UTC, datetime


def meta_time(moment: datetime) -> str:
    """metav1.Time: RFC 3339, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_time(moment: datetime) -> str:
    """metav1.MicroTime: RFC 3339 with exactly six decimals; other precisions are refused."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
