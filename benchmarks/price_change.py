"""What it takes to answer a question again when only its prices change: the request that asks, and the page."""

from __future__ import annotations

import subprocess
import sys
import time
from decimal import Decimal
from typing import Any

from benchmarks.embedded import answered, application, worker_is_alive
from benchmarks.measure import report

CHANGES = 5
BOOK = "benchmark"
WHERE = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "localhost"}
FIRST_PAGE = """
import sys, time, warnings
warnings.simplefilter("ignore")
from planner.wsgi import application
from django.test import Client
from django.urls import get_resolver
get_resolver().url_patterns
warmed = time.process_time()
if sys.argv[2] == "warm":
    from planner import warm
    warm.warm_up()
start = time.process_time()
page = Client().get(f"/studies/{sys.argv[1]}/", REMOTE_ADDR="127.0.0.1", HTTP_HOST="localhost")
end = time.process_time()
assert page.status_code == 200
print(start - warmed, end - start)
"""
"""In a new process that serves already: what warming up takes, and then the page."""


def main(inputs: dict[str, Any] | None = None) -> None:
    """A line for the example's question: the best of five changes, each to a price book of its own; the whole table;
    and the first page of a new process, before and after it has warmed up."""
    from simcore.engine.fast.warm import warm_up

    warm_up()
    with application():
        study = answered(inputs or _example())
        _page(f"/studies/{study.pk}/")
        changes = [_change(study, number) for number in range(1, CHANGES + 1)]
        best = min(changes, key=lambda figures: figures["cpu_s"])
        whole, table = _page(f"/studies/{study.pk}/designs/by-cost/")
        report(
            "price change",
            designs=study.designs.count(),
            **best,
            whole_table_cpu_s=whole,
            whole_table_kb=len(table.content) / 1000,
            first_page_cpu_s=_first_page(study.pk, "cold")[1],
            **dict(zip(("warm_up_cpu_s", "warmed_first_page_cpu_s"), _first_page(study.pk, "warm"), strict=True)),
        )


def _example() -> dict[str, Any]:
    from planner.studies import example
    from planner.workloads.models import Workload

    return example.inputs(str(Workload.of_mix(example.MIX).pk))


def _change(study: Any, number: int) -> dict[str, float]:
    """The post that asks with every price another, and the page that it leads to."""
    from django.test import Client

    worker_is_alive()
    book = _book(study, Decimal(100 + 7 * number) / 100)
    client, asked = Client(), {**_form(study), "price_book": book}
    start = _now()
    response = client.post(f"/studies/{study.pk}/ask", asked, **WHERE)
    middle = _now()
    page = client.get(response["Location"], **WHERE)
    end = _now()
    assert b"known before" in page.content
    assert book.encode() in page.content
    return {
        "cpu_s": end[0] - start[0],
        "wall_s": end[1] - start[1],
        "ask_cpu_s": middle[0] - start[0],
        "page_cpu_s": end[0] - middle[0],
        "page_kb": len(page.content) / 1000,
    }


def _book(study: Any, factor: Decimal) -> str:
    """A price book of the asker's team, the question's with every price times the factor."""
    from planner.accounts.teams import local_user
    from planner.catalogue.models import Price, PriceBook
    from planner.catalogue.services import price_book_for

    name = f"{BOOK}-{factor}".replace(".", "-")
    book = PriceBook.objects.create(team=study.team, book_id=name, name=name, date="2026")
    for price in price_book_for(local_user(), study.revision.inputs["price_book"]).prices:
        Price.objects.create(
            book=book,
            machine=price.machine,
            usd_per_hour=price.usd_per_hour * factor,
            source=name,
            date="2026",
            status="user",
        )
    return name


def _page(path: str) -> tuple[float, Any]:
    """CPU seconds of a page, and the page."""
    from django.test import Client

    start = _now()
    page = Client().get(path, **WHERE)
    return _now()[0] - start[0], page


def _first_page(study_id: int, begins: str) -> list[float]:
    """Warming up and the first page, in the best of some new processes."""
    command = [sys.executable, "-c", FIRST_PAGE, str(study_id), begins]
    lines = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(CHANGES)]
    return min(([float(figure) for figure in line.split()] for line in lines), key=lambda figures: figures[1])


def _form(study: Any) -> dict[str, Any]:
    """The question's fields as its form sends them."""
    inputs = study.revision.inputs
    counts = {
        name: ",".join(map(str, value))
        for name, value in inputs.items()
        if (name.endswith("_counts") or name == "token_budgets") and value
    }
    return {name: value for name, value in inputs.items() if value is not None} | counts


def _now() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


if __name__ == "__main__":
    main()
