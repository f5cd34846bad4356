"""Quantities in the canonical form in which the server stores and shows them."""

from decimal import ROUND_CEILING, Decimal
from functools import lru_cache

from scheduler.matching import quantity
from scheduler.sandbox.errors import bad_request
from scheduler.sandbox.fields import JsonObject, object_at

_BINARY = [(suffix, Decimal(1024) ** power) for power, suffix in enumerate(("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))]
_DECIMAL = [
    (suffix, Decimal(1000) ** power)
    for power, suffix in zip(range(-3, 7), ("n", "u", "m", "", "k", "M", "G", "T", "P", "E"), strict=True)
]
_MILLI = Decimal("0.001")  # finer amounts are rounded up, as the API's defaults do
_PATTERN = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"


@lru_cache(maxsize=65_536)
def canonical(text: str) -> str:
    """The largest suffix that leaves no fraction, within the written family: binary stays binary from 1024 on."""
    value = quantity(text).quantize(_MILLI, ROUND_CEILING).normalize()
    if text.endswith("i") and abs(value) >= 1024:
        return _with_largest_suffix(value.to_integral_value(ROUND_CEILING), _BINARY)
    if text.strip("+-0123456789.")[:1] in ("e", "E") and text[-1].isdigit():
        return _with_exponent(value)
    return _with_largest_suffix(value, _DECIMAL)


def canonicalize_resources(owner: JsonObject, *path: str, kind: str) -> None:
    """Rewrite a map of quantities in place, numbers included. Raises ApiError 400 as the server's decoder does."""
    resources = object_at(owner, *path)
    for name, value in resources.items():
        text = value if isinstance(value, str) else str(value)
        try:
            resources[name] = canonical(text)
        except ValueError:
            raise bad_request(
                f'{kind} in version "v1" cannot be handled as a {kind}: '
                f"quantities must match the regular expression '{_PATTERN}'"
            ) from None


def _with_largest_suffix(value: Decimal, suffixes: list[tuple[str, Decimal]]) -> str:
    if value == 0:
        return "0"
    for suffix, factor in reversed(suffixes):
        scaled = value / factor
        if scaled == scaled.to_integral_value():
            return f"{int(scaled)}{suffix}"
    return f"{int((value / suffixes[0][1]).to_integral_value(ROUND_CEILING))}{suffixes[0][0]}"


def _with_exponent(value: Decimal) -> str:
    for exponent in range(18, -12, -3):
        scaled = value.scaleb(-exponent)
        if scaled == scaled.to_integral_value():
            return f"{int(scaled)}e{exponent}" if exponent else str(int(scaled))
    return str(value)
