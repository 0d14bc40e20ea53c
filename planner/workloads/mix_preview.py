"""What a form would generate, while it is filled in: a part of its requests, in words and charts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.workloads import spec_words
from planner.workloads.charts import Chart, charts_of
from planner.workloads.mix_form import MixForm
from planner.workloads.page import described, week_charts
from planner.workloads.summary import summary
from simcore.spec import SpecError
from simcore.traces import SyntheticSpec, generate

MOST_REQUESTS = 20_000
"""As many as are drawn in a tenth of a second."""


@dataclass(frozen=True)
class MixPreview:
    """Sentences and charts; or what is wrong."""

    lines: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    problems: Sequence[str] = ()


def mix_preview(form: MixForm) -> MixPreview:
    """Of a form that is bound, or of its beginning."""
    if not form.is_bound:
        return MixPreview()
    if not form.is_valid():
        return MixPreview(problems=list(form.complaints()))
    return preview_of(form.spec)


def preview_of(spec: SyntheticSpec) -> MixPreview:
    """The first requests of a spec."""
    wanted = spec.requests or 0
    try:
        made = summary(generate(replace(spec, requests=min(wanted, MOST_REQUESTS))))
    except SpecError as error:
        return MixPreview(problems=[str(error)])
    lines = [spec_words.origin(spec, wanted), *spec_words.lines(spec)]
    if wanted > MOST_REQUESTS:
        lines.append(f"Below, the first {MOST_REQUESTS:,} of them.")
    return MixPreview([*lines, *described(made["statistics"])], [*week_charts(spec), *charts_of(made)])
