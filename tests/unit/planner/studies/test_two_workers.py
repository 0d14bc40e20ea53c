"""Two workers at once on one database, with their own connections: nothing is lost, nothing is done twice."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from planner.accounts.models import User
from planner.scenarios.models import Revision
from planner.studies import services, tasks
from planner.studies.leases import State
from planner.studies.models import Shard, StudyDesign, Wave
from tests.unit.planner.studies.conftest import Counted

ROUNDS = 8


@pytest.mark.django_db(transaction=True)
def test_two_workers_share_a_study(
    alice: User, revision: Revision, sent: list[tuple[str, str]], counted: Counted
) -> None:
    study = services.start_study(alice, revision)
    for _ in range(ROUNDS):
        both(lambda: work_on(Wave, tasks.plan_wave.run))
        both(lambda: work_on(Shard, tasks.run_shard.run))
    study.refresh_from_db()
    assert (study.state, study.error) == (State.DONE, "")
    numbers = list(study.waves.values_list("number", flat=True))
    assert numbers == list(range(len(numbers)))
    assert not StudyDesign.objects.filter(study=study, origin="").exists()
    assert counted.designs == study.designs.count()
    assert len(sent) == study.waves.count() + Shard.objects.filter(wave__study=study).count()


def work_on(model: type[Wave] | type[Shard], task: Callable[[str], None]) -> None:
    """Takes every row, as if each message had come to both workers."""
    for pk in model.objects.filter(state=State.QUEUED).values_list("pk", flat=True):
        task(str(pk))


def both(work: Callable[[], None]) -> None:
    errors: list[BaseException] = []

    def worker() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
