"""With pipeline stages, too, the fast engine gives the oracle's every array: decodes of many tokens on replicas of two
to four stages, where micro-batches take up the decodes of those before them.

``PHASEPLAN_EQUALITY_EXAMPLES`` asks for more examples than CI runs, with new seeds.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.invariants.strategies import CHUNKED, CO_LOCATED, failing, pipelines
from tests.invariants.test_fast_equals_oracle import SETTINGS, assert_equal

KINDS = (*CO_LOCATED, CHUNKED)


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(data=st.data())
def test_fast_equals_oracle_in_pipelines(kind: str, data: st.DataObject) -> None:
    assert_equal(data.draw(pipelines(kind)))


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(data=st.data())
def test_fast_equals_oracle_in_pipelines_under_failures(kind: str, data: st.DataObject) -> None:
    assert_equal(data.draw(failing(data.draw(pipelines(kind)))))
