"""Which plugins of a profile are called for which pods: those to which the pods' template is not indifferent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from scheduler.config import Profile
from scheduler.framework import (
    Filter,
    Permit,
    Plugin,
    PodTemplate,
    PreBind,
    PreFilter,
    PreScore,
    Reserve,
    RowFilter,
    RowScore,
    Score,
)
from scheduler.runtime.guard import Guard

# Templates whose rosters are remembered; many templates share one roster.
_MOST_TEMPLATES = 4096

P = TypeVar("P", bound=Plugin)


@dataclass(frozen=True, slots=True, eq=False)
class Roster:
    """The plugins to call at each extension point from PreFilter to PreBind, in the profile's order; scores with weights."""

    pre_filter: Sequence[PreFilter]
    filter: Sequence[Filter | RowFilter]
    pre_score: Sequence[PreScore]
    score: Sequence[tuple[Score | RowScore, int]]
    reserve: Sequence[Reserve]
    permit: Sequence[Permit]
    pre_bind: Sequence[PreBind]


class Rosters:
    """The rosters of a profile. There is one for each set of plugins that have nothing to say, so few in all; `everybody` is the
    one for pods that matter to all.
    """

    def __init__(self, profile: Profile, plugins: Mapping[str, Plugin], guard: Guard) -> None:
        self._profile = profile
        self._plugins = plugins
        self._guard = guard
        self._asked = [plugin for plugin in plugins.values() if type(plugin).indifferent is not Plugin.indifferent]
        self._of_template: dict[PodTemplate, Roster] = {}
        self.everybody = self._without(frozenset())
        self._rosters = {frozenset[str](): self.everybody}

    def of(self, template: PodTemplate) -> Roster:
        """The roster for pods of a template."""
        roster = self._of_template.get(template)
        if roster is None:
            if len(self._of_template) >= _MOST_TEMPLATES:
                del self._of_template[next(iter(self._of_template))]
            roster = self._of_template[template] = self._roster(template)
        return roster

    def _roster(self, template: PodTemplate) -> Roster:
        absent = frozenset(plugin.name for plugin in self._asked if self._is_indifferent(plugin, template))
        roster = self._rosters.get(absent)
        if roster is None:
            roster = self._rosters[absent] = self._without(absent)
        return roster

    def _is_indifferent(self, plugin: Plugin, template: PodTemplate) -> bool:
        """A plugin that raises is called, and may say by itself what is wrong."""
        return self._guard.call(plugin, "indifferent", bool, partial(plugin.indifferent, template)) is True

    def _without(self, absent: frozenset[str]) -> Roster:
        present = {name: plugin for name, plugin in self._plugins.items() if name not in absent}
        weights = {ref.name: ref.weight for ref in self._profile.plugins.get("score", ())}
        return Roster(
            pre_filter=plugins_at(self._profile, present, "preFilter", PreFilter),
            filter=[*_of_either(plugins_at(self._profile, present, "filter", Plugin))],
            pre_score=plugins_at(self._profile, present, "preScore", PreScore),
            score=[
                (plugin, weights[plugin.name])
                for plugin in plugins_at(self._profile, present, "score", Plugin)
                if isinstance(plugin, Score | RowScore)
            ],
            reserve=plugins_at(self._profile, present, "reserve", Reserve),
            permit=plugins_at(self._profile, present, "permit", Permit),
            pre_bind=plugins_at(self._profile, present, "preBind", PreBind),
        )


def plugins_at(profile: Profile, plugins: Mapping[str, Plugin], point: str, kind: type[P]) -> tuple[P, ...]:
    """Those of these plugins that are at an extension point, in the profile's order."""
    chosen = [plugins[ref.name] for ref in profile.plugins.get(point, ()) if ref.name in plugins]
    return tuple(plugin for plugin in chosen if isinstance(plugin, kind))


def _of_either(plugins: Iterable[Plugin]) -> Iterable[Filter | RowFilter]:
    return (plugin for plugin in plugins if isinstance(plugin, Filter | RowFilter))
