"""What a server process's first visitor would else wait for, done beside the first requests: views and the libraries
that they bring in, the largest templates, and the latest answer."""

import logging
from threading import Thread

from django.db import connections
from django.template.loader import get_template
from django.urls import get_resolver

from planner.lazy import lazy_views

TEMPLATES = ("scenarios/question.html", "studies/result.html")

logger = logging.getLogger(__name__)


def start() -> Thread:
    """In a thread that ends with the process."""
    thread = Thread(target=warm_up, name="warm-up", daemon=True)
    thread.start()
    return thread


def warm_up() -> None:
    """What fails here fails again, and is answered, where a visitor asks for it; it is only logged."""
    try:
        for lazy in lazy_views(get_resolver()):
            lazy.view  # noqa: B018
        for name in TEMPLATES:
            get_template(name)
        _read_the_latest_answer()
    except Exception:
        logger.exception("warming up failed; pages are loaded as they are asked for")
    finally:
        connections.close_all()


def _read_the_latest_answer() -> None:
    from planner.studies.models import Study
    from planner.studies.results import study_result

    latest = Study.unscoped.order_by("-pk").first()
    if latest is not None:
        study_result(latest)
