"""Quantities, ages, column paths and selectors: text in, text out."""

import pytest

from scheduler.sandbox.errors import ApiError
from scheduler.sandbox.fields import JsonObject
from scheduler.sandbox.quantities import canonical
from scheduler.sandbox.selectors import parse_labels
from scheduler.sandbox.tables.ages import human_duration
from scheduler.sandbox.tables.jsonpath import find


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("0.5", "500m"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1023Ki", "1023Ki"),
        ("0.5Ki", "512"),
        ("1000", "1k"),
        ("1e3", "1e3"),
        ("1500", "1500"),
        ("100u", "1m"),
        ("0", "0"),
        ("-1Gi", "-1Gi"),
    ],
)
def test_a_quantity_is_stored_in_canonical_form(written: str, stored: str) -> None:
    assert canonical(written) == stored
    assert canonical(stored) == stored


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (605, "10m"),
        (310, "5m10s"),
        (3 * 3600, "3h"),
        (3 * 3600 + 60, "3h1m"),
        (8 * 3600 + 60, "8h"),
        (2 * 86_400 + 3600, "2d1h"),
        (9 * 86_400, "9d"),
        (3 * 365 * 86_400, "3y"),
        (-5, "<invalid>"),
    ],
)
def test_an_age_is_short(seconds: int, shown: str) -> None:
    assert human_duration(seconds) == shown


def test_column_paths_reach_into_conditions_lists_and_odd_names() -> None:
    obj: JsonObject = {
        "metadata": {"annotations": {"example.org/size": "3"}},
        "status": {
            "conditions": [{"type": "Old", "status": "x"}, {"type": "Ready", "status": "True"}],
            "counts": [1, 2],
        },
    }
    assert find(obj, '.status.conditions[?(@.type=="Ready")].status') == "True"
    assert find(obj, ".status.counts[-1]") == 2
    assert find(obj, ".status.counts[*]") == 1
    assert find(obj, ".metadata.annotations['example.org/size']") == "3"
    assert find(obj, r".metadata.annotations.example\.org/size") == "3"
    assert find(obj, ".status.missing.deep") is None
    assert find(obj, ".status[?(@.unsupported)]") is None


@pytest.mark.parametrize("text", ["a in x", "a=(b", "in (x)", "a==b==c", "&"])
def test_a_label_selector_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ApiError) as refused:
        parse_labels(text)
    assert refused.value.code == 400


def test_a_label_selector_may_have_spaces() -> None:
    selector = parse_labels(" app = x , tier in ( a , b ) , !legacy ")
    assert selector.matches({"app": "x", "tier": "b"})
    assert not selector.matches({"app": "x", "tier": "b", "legacy": ""})
