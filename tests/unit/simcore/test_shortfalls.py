"""A value beside its limit, in one unit and told apart."""

import pytest

from simcore.evaluation import LimitResult
from simcore.shortfalls import value_and_limit


@pytest.mark.parametrize(
    ("metric", "value", "limit", "said"),
    [
        ("tpot_s", 0.0997, 0.1, ("99.7 ms", "100 ms")),
        ("tbt_s", 0.25, 0.05, ("250 ms", "50 ms")),
        ("ttft_s", 0.02, 0.45, ("0.02 s", "0.45 s")),
        ("ttft_s", 2.00004, 2.0, ("2.00004 s", "2 s")),
        ("ttft_s", None, 2.0, ("unbounded", "2 s")),
        ("tbt_slowdown", 1.4999, 1.5, ("1.4999×", "1.5×")),
        ("attainment", 0.991, 0.99, ("99.1 %", "99 %")),
    ],
)
def test_a_value_and_its_limit_are_told_in_one_unit(
    metric: str, value: float | None, limit: float, said: tuple[str, str]
) -> None:
    assert value_and_limit(LimitResult(metric, 99, limit, value, False)) == said
