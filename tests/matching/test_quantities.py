"""Quantities of the API, in exact integers (bug report BR-055)."""

import pytest

from scheduler.matching import milli_units, quantity, units


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3060164198400m", 3060164199),
        ("128974848000m", 128974848),
        ("129e6", 129_000_000),
        ("129M", 129_000_000),
        ("123Mi", 128974848),
        ("0.5Gi", 536870912),
        ("1.5Ti", 1649267441664),
        ("1Pi", 2**50),
        ("1Ei", 2**60),
        ("1.5Gi", 1610612736),
        ("2.5Mi", 2621440),
        ("1.5G", 1_500_000_000),
        ("1E", 10**18),
        ("1e3", 1000),
        ("+1", 1),
        (".5", 1),
        ("1.", 1),
    ],
)
def test_a_quantity_is_rounded_up_to_whole_units(text: str, value: int) -> None:
    assert units(text) == value


@pytest.mark.parametrize(("text", "value"), [("100m", 100), ("0.1", 100), ("0.0001", 1), ("2", 2000), ("1500n", 1)])
def test_cpu_is_rounded_up_to_thousandths(text: str, value: int) -> None:
    assert milli_units(text) == value


@pytest.mark.parametrize("text", ["1K", "1mi", "1 Gi", "", "0x10", "NaN", "Infinity", "1_000", "\uff11", "1Gii", "m"])
def test_what_the_api_refuses_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity") as error:
        quantity(text)
    assert repr(text) in str(error.value)
