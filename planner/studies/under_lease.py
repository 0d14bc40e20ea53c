"""What every task does about its row: its lease is kept alive while it works, and where it cannot, it says why."""

import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError

from planner.operations.logs import about
from planner.studies.leases import Claim, Heartbeat, LostClaimError

logger = logging.getLogger(__name__)

DATABASE_AWAY = (OperationalError, InterfaceError)
"""No fault of the work: the lease runs out and the row is taken up again, three times at most."""


def under_lease(held: Claim, study_id: int, work: Callable[[Heartbeat], None], fail: Callable[[str], None]) -> None:
    """Does the work under its lease; ``fail`` is told the reason where it cannot be done."""
    with about(study_id=study_id, task=held.name, attempt=held.attempt), Heartbeat(held) as heartbeat:
        logger.info("%s begins", held.name)
        try:
            work(heartbeat)
            logger.info("%s ends", held.name)
        except LostClaimError:
            logger.info("%s was cancelled or taken over", held.name)
        except DATABASE_AWAY as error:
            logger.warning("the database went away during %s", held.name, exc_info=True)
            held.leave(f"the database could not be used ({error}).")
        except Exception as error:
            logger.exception("%s cannot be done", held.name)
            fail(reason_of(error))


def reason_of(error: Exception) -> str:
    """An error as people read it: bad input speaks for itself."""
    return f"{error}" if isinstance(error, ValueError) and str(error) else f"{type(error).__name__}: {error}"
