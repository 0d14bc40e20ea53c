"""A small answered study of alice's whose costs have been worked out."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from planner.studies.models import Study
from tests.unit.planner.analyses.conftest import answered, sent, work, workload

__all__ = ["answered", "sent", "work", "workload"]


@pytest.fixture
def costed(
    alice_client: Client,
    answered: Callable[..., Study],
    work: Callable[[], None],
    django_capture_on_commit_callbacks: Any,
) -> Study:
    study = answered()
    with django_capture_on_commit_callbacks(execute=True):
        alice_client.post(f"/studies/{study.pk}/analyses/costing/", {})
    work()
    return study
