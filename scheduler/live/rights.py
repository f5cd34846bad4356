"""Rights as people grant them: verb, resource, API group, namespace."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Right:
    """What an account must be allowed to do; prints as `create pods/binding in all namespaces`. An empty namespace means
    all of them.
    """

    verb: str
    resource: str
    group: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        name, slash, subresource = self.resource.partition("/")
        full = f"{name}.{self.group}" if self.group else name
        where = f"in namespace {self.namespace}" if self.namespace else "in all namespaces"
        return f"{self.verb} {full}{slash}{subresource} {where}"
