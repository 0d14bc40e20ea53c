"""schemathesis: what the OpenAPI document allows, and what it does not, is sent to the application itself.

No answer is a fault of the server, each is as the document says, and nobody is let in without a token. The examples are
the same in each run, and few: what is looked for is what nobody thought of, over all operations.
"""

import itertools
from collections.abc import Callable, Iterator
from traceback import format_exception
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import one_of
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from planner.accounts import tokens
from planner.accounts.models import ApiToken, Team, User
from planner.api.document import document
from planner.api.operation import RestView
from planner.studies.models import Study
from tests.unit.planner.studies.conftest import *  # noqa: F403 - its fixtures
from tests.unit.planner.studies.conftest import Counted

EXAMPLES = 12
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
SCHEMA: Any = schemathesis.openapi.from_dict(document())
SCHEMA.config.generation.update(with_security_parameters=False)
OPERATIONS = [one.ok() for one in SCHEMA.get_all_operations()]
TAGS = sorted({one.tags[0] for one in OPERATIONS})


@pytest.fixture
def study(start: Callable[[], Study], work: Callable[..., int], counted: Counted) -> Study:
    study = start()
    work()
    study.refresh_from_db()
    return study


@pytest.fixture
def connected() -> Iterator[None]:
    """The server's end of a request closes the connection, and with it the test's transaction: not here."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def known(study: Study, monkeypatch: pytest.MonkeyPatch, team: Team, alice: User) -> dict[str, Any]:
    """Rows for the addresses to name, so that not all is a 404, and a token that may write."""
    monkeypatch.setattr(RestView, "throttle_classes", [])
    return {
        "token": tokens.issue(team, "fuzz", alice, ApiToken.Scope.WRITE)[1],
        "study_id": study.pk,
        "scenario_id": study.revision.scenario_id,
        "workload_id": study.workload_id,
        "number": 1,
        "table": "machines",
        "row_id": "dgx-h100",
        "book_id": "list",
        "kind": "growth",
        "name": "lines",
        "file": "designs.csv",
    }


@pytest.mark.usefixtures("collected_static", "connected")
@pytest.mark.parametrize("tag", TAGS)
def test_what_nobody_thought_of(tag: str, known: dict[str, Any]) -> None:
    application = get_wsgi_application()
    headers = {"Authorization": f"Bearer {known['token']}", "Accept-Encoding": "identity"}
    wrong = {}
    for one in OPERATIONS:
        if one.tags[0] == tag:
            try:
                with transaction.atomic():
                    _send(one, known, application, headers)
                    raise _Undone
            except _Undone:
                pass
            except Exception as error:
                wrong[f"{one.method.upper()} {one.path}"] = "".join(format_exception(error))
    assert not wrong, "\n\n".join(f"{name}: {said}" for name, said in wrong.items())


class _Undone(Exception):  # noqa: N818 - the next operation finds what this one found
    pass


def _send(operation: Any, known: dict[str, Any], application: Any, headers: dict[str, str]) -> None:
    """Half of the examples name what is there."""
    count = itertools.count()

    @seed(7)
    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=one_of(*(operation.as_strategy(generation_mode=mode) for mode in GenerationMode)))
    def sent(case: Case) -> None:
        if next(count) % 2 == 0:
            case.path_parameters.update({name: known[name] for name in case.path_parameters if name in known})
            case.headers.update({"If-Match": "*"} if "If-Match" in case.headers else {})
        response = case.call(app=application, headers=headers)
        case.validate_response(response, checks=CHECKS)

    sent()
