"""Whatever is in a file, the answer is a configuration or lines that name it."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.registry import BUILT_IN
from scheduler.config import ConfigError, Configuration, load
from scheduler.config.wire import File, Profile
from tests.config.files import HEAD

words = st.sampled_from(
    (
        *File.__struct_encode_fields__,
        *Profile.__struct_encode_fields__,
        "name",
        "enabled",
        "disabled",
        "score",
        "filter",
    )
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.sampled_from(tuple(BUILT_IN))
)
trees = st.recursive(
    st.one_of(scalars, st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=5)),
    max_leaves=25,
)
profiles = st.fixed_dictionaries(
    {},
    optional={
        "schedulerName": st.one_of(st.sampled_from("ab"), trees),
        "plugins": st.dictionaries(
            st.sampled_from(("multiPoint", "score", "filter", "bind")),
            st.dictionaries(
                st.sampled_from(("enabled", "disabled")),
                st.lists(
                    st.one_of(trees, st.builds(lambda n, w: {"name": n, "weight": w}, scalars, scalars)), max_size=4
                ),
            ),
        ),
        "pluginConfig": st.lists(
            st.one_of(trees, st.builds(lambda n, a: {"name": n, "args": a}, st.sampled_from(tuple(BUILT_IN)), trees)),
            max_size=3,
        ),
    },
)
files = st.one_of(
    st.dictionaries(words, trees, max_size=6), st.builds(lambda p: {"profiles": p}, st.lists(profiles, max_size=3))
)


@settings(max_examples=300)
@given(files)
def test_a_file_is_read_or_its_faults_are_listed(tree: dict[str, object]) -> None:
    text = HEAD + "".join(
        f"{key}: {json.dumps(value)}\n" for key, value in tree.items() if key not in ("apiVersion", "kind")
    )
    outcome = read(text)
    if isinstance(outcome, Configuration):
        assert outcome.profiles
        return
    assert outcome.problems
    assert all(line.startswith("file.yaml:") and "\n" not in line for line in outcome.problems)
    assert len(set(outcome.problems)) == len(outcome.problems)


def read(text: str) -> Configuration | ConfigError:
    try:
        return load(text, "file.yaml", BUILT_IN)
    except ConfigError as error:
        return error
