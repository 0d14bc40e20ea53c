"""simcore's objects from the JSON of rows."""

from planner.studies.models import Study, StudyDesign
from simcore.evaluation import Design, Evaluation
from simcore.spec import PriceBook, StudySpec, decode, decode_case, decode_study


def spec_of(study: Study) -> StudySpec:
    return decode_study(study.spec)


def prices_of(study: Study) -> PriceBook:
    return decode(PriceBook, study.prices, "prices")


def design_of(row: StudyDesign) -> Design:
    return Design(**{**row.design, "case": decode_case(row.design["case"])})


def evaluation_of(row: StudyDesign) -> Evaluation | None:
    """What was found about the design; None while it has not been tried."""
    if row.failure:
        return Evaluation(row.design_id, "failed", row.failure)
    return decode(Evaluation, row.evaluation.payload, "evaluation") if row.evaluation else None


def evaluations_of(study: Study) -> dict[str, Evaluation]:
    """Design id → evaluation, of all designs tried so far."""
    rows = study.designs.select_related("evaluation")
    return {row.design_id: found for row in rows if (found := evaluation_of(row)) is not None}
