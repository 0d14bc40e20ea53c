"""Views are loaded when they are asked for; those that cannot be loaded are found before that."""

import subprocess
import sys

import pytest
from django.conf import settings
from django.test import Client, RequestFactory
from django.urls import get_resolver

from planner import checks
from planner.lazy import LazyView, lazy_views

HEAVY = ("rest_framework.views", "numpy", "planner.studies.views", "planner.catalogue.api", "simcore.explain")


def test_every_view_loads() -> None:
    found = list(lazy_views(get_resolver()))
    assert len({lazy.path for lazy in found}) > 25
    assert all(callable(lazy.view) for lazy in found)


def test_the_deployment_check_names_a_view_that_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks.every_view_loads(None) == []
    wrong = LazyView("planner.studies.views.reslt")
    monkeypatch.setattr(checks, "lazy_views", lambda resolver: [wrong])
    (error,) = checks.every_view_loads(None)
    assert "planner.studies.views.reslt" in error.msg


def test_a_view_that_does_not_load_is_an_error_to_its_visitor() -> None:
    with pytest.raises(ImportError):
        LazyView("planner.studies.views.reslt")(RequestFactory().get("/"))


def test_middleware_reads_the_view_itself() -> None:
    rest = LazyView("planner.studies.api.Studies")
    page = LazyView("planner.studies.views.result")
    assert rest.csrf_exempt is True
    assert rest.login_required is False
    assert not hasattr(page, "csrf_exempt")
    assert not hasattr(page, "login_required")


@pytest.mark.django_db
def test_a_page_asks_for_a_sign_in_and_the_interface_refuses(client: Client) -> None:
    assert client.get("/studies/1/").status_code == 302
    assert client.get("/api/v1/studies/").status_code == 401


def test_neither_a_check_nor_an_address_loads_a_view() -> None:
    script = (
        "import sys, django; django.setup()\n"
        "from django.core.management import call_command; call_command('check')\n"
        "from django.urls import reverse; reverse('api:study_designs', args=[1]); reverse('studies:result', args=[1])\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
