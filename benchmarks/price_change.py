"""What it takes to answer a question again when only its prices change: the request that asks, and the page."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.embedded import answered, application, worker_is_alive
from benchmarks.measure import report

CHANGES = 5
BUDGET_USD = 400_000


def main(inputs: dict[str, Any] | None = None) -> None:
    """A line for the example's question: the best of five changes, and the first page of a process that has seen no
    other."""
    from simcore.engine.fast.warm import warm_up

    warm_up()
    with application():
        study = answered(inputs or _example())
        _forget()
        first = _page(study.pk)
        changes = [_change(study, BUDGET_USD + 1000 * number) for number in range(CHANGES)]
        best = min(changes, key=lambda figures: figures["cpu_s"])
        report(
            "price change", designs=study.designs.count(), **best, **{f"first_page_{k}": v for k, v in first.items()}
        )


def _example() -> dict[str, Any]:
    from planner.studies import example
    from planner.workloads.models import Workload

    return example.inputs(str(Workload.of_mix(example.MIX).pk))


def _change(study: Any, budget_usd: int) -> dict[str, float]:
    """The post that asks, and the page that it leads to."""
    from django.test import Client

    worker_is_alive()
    client, asked = Client(), {**_form(study), "usd_per_month": str(budget_usd)}
    start = _now()
    response = client.post(f"/studies/{study.pk}/ask", asked, REMOTE_ADDR="127.0.0.1", HTTP_HOST="localhost")
    middle = _now()
    page = client.get(response["Location"], REMOTE_ADDR="127.0.0.1", HTTP_HOST="localhost")
    end = _now()
    assert b"known before" in page.content
    return {
        "cpu_s": end[0] - start[0],
        "wall_s": end[1] - start[1],
        "ask_cpu_s": middle[0] - start[0],
        "page_cpu_s": end[0] - middle[0],
        "page_kb": len(page.content) / 1000,
    }


def _page(study_id: int) -> dict[str, float]:
    from django.test import Client

    start = _now()
    Client().get(f"/studies/{study_id}/", REMOTE_ADDR="127.0.0.1", HTTP_HOST="localhost")
    end = _now()
    return {"cpu_s": end[0] - start[0]}


def _form(study: Any) -> dict[str, Any]:
    """The question's fields as its form sends them."""
    inputs = study.revision.inputs
    counts = {
        name: ",".join(map(str, value))
        for name, value in inputs.items()
        if (name.endswith("_counts") or name == "token_budgets") and value
    }
    return {name: value for name, value in inputs.items() if value is not None} | counts


def _forget() -> None:
    """What another process has not seen."""
    from planner.studies import results, stored

    for kept in (stored._design, stored._result, results._study_result):
        kept.cache_clear()


def _now() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


if __name__ == "__main__":
    main()
