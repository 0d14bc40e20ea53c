"""``python -m benchmarks.lists [--scenarios 1000 --studies 10000 --designs 500000]``: how long pages with lists take,
and how many queries they ask, in an installation of years: the rows of a small real one, many times over.

One line of JSON a page: milliseconds (wall and CPU, best of five, in one process with a warm cache) and queries.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ARCHIVE = ROOT / "tests" / "data" / "installation-2026-12-01.tar.gz"
AT_ONCE = 2_000
TIMES = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", type=int, default=1_000)
    parser.add_argument("--studies", type=int, default=10_000)
    parser.add_argument("--designs", type=int, default=500_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="phaseplan-lists-") as folder:
        os.environ |= {
            "PHASEPLAN_VAR": folder,
            "PHASEPLAN_LOCAL": "true",
            "DJANGO_SETTINGS_MODULE": "planner.settings",
        }
        for command in (["restore", str(ARCHIVE)], ["collectstatic", "--noinput", "-v0"], ["load_catalogue"]):
            subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        import django

        django.setup()
        fill(asked.scenarios, asked.studies, asked.designs)
        for line in measured():
            print(json.dumps(line), flush=True)


def fill(scenarios: int, studies: int, designs: int) -> None:
    """Copies of the archive's question, study and designs."""
    from planner.accounts.models import Membership, Role
    from planner.accounts.teams import local_user
    from planner.scenarios.models import Revision, Scenario
    from planner.studies.models import Study, StudyDesign

    study = Study.unscoped.select_related("revision__scenario").get()
    Membership.objects.get_or_create(team=study.team, user=local_user(), defaults={"role": Role.OWNER})
    questions = copied(Scenario, study.revision.scenario, scenarios, lambda row, n: setattr(row, "name", f"Plan {n}"))
    revisions = copied(Revision, study.revision, scenarios, lambda row, n: setattr(row, "scenario_id", questions[n]))
    answers = copied(
        Study, study, studies, lambda row, n: setattr(row, "revision_id", revisions[n * scenarios // studies])
    )
    base = list(StudyDesign._base_manager.filter(study=study))
    each = designs // studies

    def place(row: Any, n: int) -> None:
        of, order = base[n % each % len(base)], n % each
        row.study_id, row.order, row.shard_id = answers[n // each], order, None
        row.design_id = f"{order:012x}"
        for name in ("design", "design_checksum", "result", "result_checksum", "origin", "failure"):
            setattr(row, name, getattr(of, name))

    copied(StudyDesign, base[0], each * studies, place)


def copied(model: Any, row: Any, count: int, change: Any) -> list[int]:
    """Primary keys of copies of a row, each changed."""
    fields = [field.attname for field in model._meta.concrete_fields if not field.primary_key]
    plain, made = {name: getattr(row, name) for name in fields}, []
    for start in range(0, count, AT_ONCE):
        batch = [model(**plain) for _ in range(start, min(count, start + AT_ONCE))]
        for number, one in enumerate(batch, start):
            change(one, number)
        made += [one.pk for one in model._base_manager.bulk_create(batch)]
    return made


def measured() -> Iterator[dict[str, Any]]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from planner.studies.models import Study

    study = Study.unscoped.order_by("-pk").select_related("revision").first()
    if study is None:
        return
    addresses = [
        "/",
        f"/questions/{study.revision.scenario_id}/",
        "/compare/",
        "/workloads/",
        "/catalogue/machines/",
        f"/studies/{study.pk}/",
        f"/studies/{study.pk}/designs/by-cost/",
        "/api/v1/scenarios/",
        "/api/v1/studies/",
        f"/api/v1/studies/{study.pk}/designs",
    ]
    client = Client(HTTP_HOST="127.0.0.1")
    for address in addresses:
        status, walls, cpus, queries = 0, [], [], 0
        for _ in range(TIMES):
            with CaptureQueriesContext(connection) as asked:
                wall, cpu = time.perf_counter(), time.process_time()
                status = client.get(address).status_code
                walls.append(time.perf_counter() - wall)
                cpus.append(time.process_time() - cpu)
            queries = len(asked)
        yield {
            "benchmark": "lists",
            "address": address,
            "status": status,
            "wall_ms": round(min(walls) * 1000, 1),
            "first_ms": round(walls[0] * 1000, 1),
            "cpu_ms": round(min(cpus) * 1000, 1),
            "queries": queries,
        }


if __name__ == "__main__":
    main()
