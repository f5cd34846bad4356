"""Resources that are only asked: who am I, and may I. Whoever got this far may do everything."""

from scheduler.sandbox.fields import JsonObject, object_at

USER = "sandbox-admin"


def review(plural: str, body: JsonObject) -> JsonObject | None:
    """The answer to a posted review; None for a resource that is not one."""
    match plural:
        case "selfsubjectaccessreviews":
            return {
                "kind": "SelfSubjectAccessReview",
                "apiVersion": "authorization.k8s.io/v1",
                "metadata": {},
                "spec": object_at(body, "spec"),
                "status": {"allowed": True},
            }
        case "selfsubjectreviews":
            return {
                "kind": "SelfSubjectReview",
                "apiVersion": "authentication.k8s.io/v1",
                "metadata": {},
                "status": {"userInfo": {"username": USER, "groups": ["system:masters", "system:authenticated"]}},
            }
    return None
