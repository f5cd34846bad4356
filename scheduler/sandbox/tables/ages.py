"""How long ago, in the short form that kubectl prints (apimachinery's duration.HumanDuration)."""

from datetime import datetime

from scheduler.sandbox.fields import Json
from scheduler.sandbox.identity import parse_timestamp

UNKNOWN = "<unknown>"
_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86_400, 365 * 86_400


def age(moment: Json, now: datetime) -> str:
    """Time since an API timestamp, or `<unknown>` where there is none."""
    if not isinstance(moment, str) or not moment:
        return UNKNOWN
    return human_duration(int((now - parse_timestamp(moment)).total_seconds()))


def human_duration(seconds: int) -> str:
    """One or two units: 90 seconds as `90s`, ten minutes and five seconds as `10m`, two days and an hour as `2d1h`."""
    if seconds < -1:
        return "<invalid>"
    for below, unit, name, smaller, smaller_name in (
        (2 * _MINUTE, 1, "s", 0, ""),
        (10 * _MINUTE, _MINUTE, "m", 1, "s"),
        (3 * _HOUR, _MINUTE, "m", 0, ""),
        (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
        (2 * _DAY, _HOUR, "h", 0, ""),
        (8 * _DAY, _DAY, "d", _HOUR, "h"),
        (2 * _YEAR, _DAY, "d", 0, ""),
        (8 * _YEAR, _YEAR, "y", _DAY, "d"),
    ):
        if seconds < below:
            rest = seconds % unit // smaller if smaller else 0
            return f"{max(seconds, 0) // unit}{name}" + (f"{rest}{smaller_name}" if rest else "")
    return f"{seconds // _YEAR}y"
