"""How resources and objects are named, and where new names, UIDs and versions come from."""

import random
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

# apimachinery util/rand: no vowels and no look-alikes, so that no word appears.
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_MAX_GENERATED_PREFIX = 63 - _SUFFIX_LENGTH

WallClock = Callable[[], datetime]


class GroupResource(NamedTuple):
    """A resource or kind with its API group; prints as `leases.coordination.k8s.io`, or `pods` in the core group."""

    group: str
    plural: str

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural


class Key(NamedTuple):
    """Where an object stands among those of its resource; the namespace is empty for objects of the cluster."""

    namespace: str
    name: str


class Identities:
    """Seeded source of UIDs and of suffixes for metadata.generateName: the same seed gives the same sequence."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - identifiers must repeat with the seed; nothing here is secret

    def uid(self) -> str:
        """A new random-looking UID."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def name(self, prefix: str) -> str:
        """A name from metadata.generateName, cut so that prefix and suffix fit a DNS label."""
        suffix = "".join(self._random.choices(_SUFFIX_LETTERS, k=_SUFFIX_LENGTH))
        return prefix[:_MAX_GENERATED_PREFIX] + suffix


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC, whole seconds, as metav1.Time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_timestamp(text: str) -> datetime:
    """The moment that a metav1.Time or MicroTime names."""
    return datetime.fromisoformat(text)
