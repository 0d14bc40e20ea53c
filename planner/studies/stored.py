"""simcore's objects from the bytes and the JSON of rows."""

import logging
from functools import lru_cache
from typing import Any

from planner.studies.models import Study, StudyDesign
from planner.studies.packed import DamagedError, unpack
from simcore.evaluation import Design, Evaluation
from simcore.spec import PriceBook, StudySpec, decode, decode_study

logger = logging.getLogger(__name__)

MOST_KEPT = 4096
"""Designs, and results, kept once they are unpacked: a study asked again at other prices unpacks none."""
DAMAGED = "Its stored result is damaged; trying again computes it anew."


def spec_of(study: Study) -> StudySpec:
    return decode_study(study.spec)


def prices_of(study: Study) -> PriceBook:
    return decode(PriceBook, study.prices, "prices")


def designs_of(study: Study) -> dict[str, Design]:
    """Design id → design, in the study's order. One whose bytes are damaged is left out (see ``damaged_rows``)."""
    found = {}
    for name, data, checksum in study.designs.values_list("design_id", "design", "design_checksum"):
        try:
            found[name] = _design(bytes(data), checksum)
        except DamagedError as error:
            logger.error("study %s: design %s is damaged: %s", study.pk, name, error)
    return found


def evaluations_of(study: Study) -> dict[str, Evaluation]:
    """Design id → evaluation, of all designs tried so far; ``failed``, with the reason, where there is none."""
    fields = ("design_id", "result", "result_checksum", "failure")
    rows = study.designs.exclude(origin=StudyDesign.Origin.UNTRIED, failure="").values_list(*fields)
    return {name: _evaluation(study, name, *rest) for name, *rest in rows}


def design_of(row: StudyDesign) -> Design:
    """The design of one row; DamagedError where its bytes are not those that were written."""
    return _design(bytes(row.design), row.design_checksum)


def damaged_rows(study: Study) -> list[int]:
    """The ids of those rows of which something cannot be read."""
    rows = study.designs.values_list("pk", "design", "design_checksum", "result", "result_checksum")
    return [pk for pk, *packed in rows if not _is_whole(*packed)]


def _is_whole(design: Any, design_checksum: Any, result: Any, result_checksum: Any) -> bool:
    try:
        _design(bytes(design), design_checksum)
        if result is not None:
            _result(bytes(result), result_checksum)
    except DamagedError:
        return False
    return True


def _evaluation(study: Study, design_id: str, data: bytes | None, checksum: str, failure: str) -> Evaluation:
    if failure or data is None:
        return Evaluation(design_id, "failed", failure)
    try:
        return _result(bytes(data), checksum)
    except DamagedError as error:
        logger.error("study %s: the result of design %s is damaged: %s", study.pk, design_id, error)
        return Evaluation(design_id, "failed", DAMAGED)


@lru_cache(maxsize=MOST_KEPT)
def _design(data: bytes, checksum: str) -> Design:
    return unpack(Design, data, checksum)


@lru_cache(maxsize=MOST_KEPT)
def _result(data: bytes, checksum: str) -> Evaluation:
    return unpack(Evaluation, data, checksum)
