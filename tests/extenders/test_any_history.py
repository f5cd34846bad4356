"""Whatever extenders do while whatever happens to a cluster: once they are well, all is placed, and nothing is left behind."""

import json

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from plugins.registry import load_registry
from scheduler.config import load
from scheduler.messages import Unknown, Withdrawn
from scheduler.sandbox.errors import ApiError
from scheduler.sandbox.faults import CallPlan, extending
from tests.extenders.extender import URL, JsonObject, ScriptedExtender, extender_config, refusing
from tests.laws.test_any_history import CPU, PODS, AnyHistory
from tests.scenarios.world import BERTH

VERBS: JsonObject = {
    "filterVerb": "filter",
    "prioritizeVerb": "prioritize",
    "weight": 2,
    "preemptVerb": "preempt",
    "bindVerb": "bind",
}
GPU = {"x.example/gpu": "1"}

FILTERS = {
    "all": lambda body: {"NodeNames": body["NodeNames"]},
    "not n0": refusing(n0="not now"),
    "not n1": refusing(n1="not now"),
    "none": lambda body: {},
    "a stranger": lambda body: {"NodeNames": ["stranger"]},
    "gibberish": lambda body: b"{",
}


class ExtendedHistory(AnyHistory):
    """The same with an extender that has a say in everything about every pod."""

    configuration = load(f"{BERTH}extenders: {json.dumps([extender_config(**VERBS)])}\n", "test", load_registry())

    def prepare(self) -> None:
        self.extender = ScriptedExtender(
            bind=self.bind,
            prioritize=lambda body: [{"Host": name, "Score": len(name)} for name in body["NodeNames"]],
        )
        self.world.driver.extenders[URL] = self.extender

    def bind(self, body: JsonObject) -> JsonObject:
        try:
            self.world.bind_elsewhere(body["PodName"], body["Node"])
        except ApiError as refusal:
            return {"Error": refusal.message}
        return {"Error": ""}

    @rule(name=PODS, cpu=CPU)
    def create_managed(self, name: str, cpu: str) -> None:
        self._try(lambda: self.world.pod(name, cpu, resources=GPU))

    @rule(how=st.sampled_from(sorted(FILTERS)))
    def change_its_mind(self, how: str) -> None:
        self.extender.filter = FILTERS[how]

    @rule(status=st.sampled_from([200, 200, 500]))
    def break_or_mend(self, status: int) -> None:
        self.extender.status = status

    @rule(
        plan=st.builds(
            CallPlan,
            before=st.sampled_from([0.0, 0.5]),
            carried_out=st.booleans(),
            answer=st.sampled_from([None, Unknown("reset")]),
            after=st.sampled_from([0.0, 0.5, 4.0, 60.0]),
        )
        | st.just(CallPlan(carried_out=False, answer=Withdrawn("no lease"))),
        times=st.integers(1, 3),
    )
    def extender_calls_go_wrong(self, plan: CallPlan, times: int) -> None:
        self.world.faults.calls(extending, plan, times)

    def recover(self) -> None:
        """An extender cannot say that it has changed its mind; the next event wakes those it refused."""
        self.extender.status = 200
        self.extender.filter = FILTERS["all"]
        self.world.driver.run(70.0)
        if not self.leading:
            self.world.driver.start()
            self.leading = True
        self.world.node("waker", cpu="0")
        self.world.driver.run(70.0)


class ManagedHistory(ExtendedHistory):
    """The same with an extender that cares for some pods only, and may be ignored."""

    configuration = load(
        f"{BERTH}extenders: "
        + json.dumps(
            [
                extender_config(
                    **VERBS, ignorable=True, managedResources=[{"name": "x.example/gpu", "ignoredByScheduler": True}]
                )
            ]
        ),
        "test",
        load_registry(),
    )


TestExtendedHistory = ExtendedHistory.TestCase
TestManagedHistory = ManagedHistory.TestCase
TestExtendedHistory.settings = settings(max_examples=30, stateful_step_count=40)
TestManagedHistory.settings = settings(max_examples=30, stateful_step_count=40)
