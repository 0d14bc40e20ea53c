"""How long an answer takes, as the question says it before it is asked."""

import pytest

from planner.scenarios.preview import Preview


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("cpu_s", "said"),
    [(0.0, "1 s"), (10.0, "2 to 8 s"), (200.0, "0.59 to 2.7 minutes"), (20_000.0, "0.97 to 4.4 hours")],
)
def test_a_span_is_said_of_what_first_designs_would_take(
    cpu_s: float, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHASEPLAN_PROCESSES", "2")
    assert Preview(lines=("a line",), cpu_s=cpu_s).about == f"answer in about {said}"


def test_nothing_is_said_where_nothing_can_be_asked() -> None:
    assert Preview(impossible=True).about == ""
