"""The lines under the question: what the fluid bound knows before anything is simulated. No engine, no worker."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.utils import timezone
from django.utils.datastructures import MultiValueDict

from planner.accounts.owned import Visitor
from planner.scenarios import checks
from planner.scenarios.bare import Bare, Lone, requests_of, time
from planner.scenarios.choices import Choices
from planner.scenarios.errors import FieldErrors
from planner.scenarios.forms import QuestionForm
from planner.scenarios.limit_checks import of_money
from planner.scenarios.limits_shown import LimitTable, allowed, limits_shown
from planner.scenarios.page import ADVANCED, QuestionPage
from planner.scenarios.traffic import traffic
from planner.studies import workers
from planner.studies.spec import Question, compile_question
from simcore.catalogue import resolve_model
from simcore.families import SPLIT, PoolChoice
from simcore.fluid.bounds import MAX_BATCH_SIZE, PhaseMachines, work_machines
from simcore.memory import kv_capacity
from simcore.search.cost import predicted_cpu_s
from simcore.search.counts import grid
from simcore.spec import SpecError, StudySpec, WorkloadSpec
from simcore.study import Context, context
from simcore.survival import evaluated_cases
from simcore.trust.outside import Curve, outside_measured
from simcore.trust.sentences import outside_words
from simcore.words import counted, number, with_article

CACHED_PREVIEWS = 32
OF_FIRST_DESIGNS = (0.35, 1.6)
"""What a study takes as a share of what its first designs would take if each were searched: those that others beat are
not, and what is found leads to more. Four questions (BLOOM, two Llamas of 70B, 8B; one to three machines) took 0.32 to
1.6 (2026-12-01)."""
FIXED_S = 0.5
"""However little it simulates: messages, waves, rows."""
BARE = "-"


@dataclass(frozen=True)
class Preview:
    """What is shown: sentences, what stands in the way, and whether a study could find anything at all."""

    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    impossible: bool = False
    leaves_out: bool = False
    """Something that is chosen will not be tried."""
    outside: str = ""
    """Inputs that no measurement covers."""
    offers_defaults: bool = False
    """Something stands in the way, and what is set under Advanced may be why."""
    limits: LimitTable | None = None
    """What the SLO allows, in milliseconds."""
    cpu_s: float = 0.0
    """Of the designs that are tried first, if each were searched."""

    @property
    def about(self) -> str:
        """``answer in about 4 to 18 s``, on the processes that there are."""
        if not self.lines:
            return ""
        least, most = (FIXED_S + share * self.cpu_s / workers.processes() for share in OF_FIRST_DESIGNS)
        return f"answer in about {_span(least, most)}"


def preview(user: Visitor, data: Mapping[str, Any], offered: Choices | None = None) -> Preview:
    """The preview of typed values; what is wrong with them instead, where they are."""
    form = QuestionForm(user, data, offered=offered)
    found, page = _checked(user, form), QuestionPage(form)
    stands = found.impossible or found.leaves_out or page.advanced_open
    offers = bool(stands and page.differing) and _defaults_help(user, found, data, offered)
    return replace(found, offers_defaults=offers)


def _defaults_help(user: Visitor, found: Preview, data: Mapping[str, Any], offered: Choices | None) -> bool:
    """Whether the same with nothing set under Advanced can be asked, or leaves nothing out."""
    names = {name for group in ADVANCED.values() for name in group}
    plain = MultiValueDict({name: _listed(data, name) for name in data if name.partition("-")[0] not in names})
    form = QuestionForm(user, plain, offered=offered)
    other = _checked(user, form)
    return form.is_valid() and not other.impossible and not (found.leaves_out and other.leaves_out)


def _listed(data: Mapping[str, Any], name: str) -> list[Any]:
    if isinstance(data, MultiValueDict):
        return data.getlist(name)
    return data[name] if isinstance(data[name], list) else [data[name]]


def _checked(user: Visitor, form: QuestionForm) -> Preview:
    if not form.is_valid():
        return Preview(warnings=tuple(_complaints(QuestionPage(form))))
    try:
        question = compile_question(user, form.cleaned_data, form.offered.kept)
        return _with_money(question)
    except FieldErrors as error:
        return Preview(warnings=tuple(error.fields.values()), impossible=True)
    except SpecError as error:
        return Preview(warnings=(str(error),), impossible=True)


def _with_money(question: Question) -> Preview:
    bare_spec = _bare(question.spec)
    found = _of(bare_spec, question.workload.pk, question.trace_hash)
    if found.impossible:
        return found
    bare = _bare_of(bare_spec, question.workload.pk, question.trace_hash)
    money = of_money(bare, question.prices, question.spec.limits.usd_per_month, timezone.now().date())
    return replace(found, warnings=(*found.warnings, *money))


def _bare(spec: StudySpec) -> StudySpec:
    """Without what no line depends on: money, so that a changed price finds the lines made, and what the workload is
    called, for its requests are asked for."""
    limits = replace(spec.limits, usd_per_month=None)
    return replace(spec, prices=BARE, limits=limits, workload=WorkloadSpec(trace=BARE))


@lru_cache(maxsize=CACHED_PREVIEWS)
def _bare_of(spec: StudySpec, workload_id: int, trace_hash: str) -> Bare:
    requests = requests_of(workload_id, trace_hash)
    return Bare(spec, requests, context(spec, requests.trace, requests.statistics))


@lru_cache(maxsize=CACHED_PREVIEWS)
def _of(spec: StudySpec, workload_id: int, trace_hash: str) -> Preview:
    bare = _bare_of(spec, workload_id, trace_hash)
    if obstacles := tuple(checks.obstacles(bare)):
        return Preview(warnings=obstacles, impossible=True)
    lone = bare.reference()
    designs, cpu_s = _first_designs(bare.found)
    return Preview(
        (_alone(lone), f"{allowed(bare, lone)} {_work(bare)}", *traffic(bare), designs),
        tuple(checks.warnings(bare)),
        leaves_out=any(checks.left_out(bare)),
        outside=outside_words(outside_measured(_curves(bare.found), bare.requests.asked)),
        limits=limits_shown(bare, lone),
        cpu_s=cpu_s,
    )


def _curves(found: Context) -> list[Curve]:
    """Of all pools that may be tried. How many sequences they decode at once is known of designs only."""
    model = resolve_model(found.spec.model)
    pools = [pool for line in found.lines if not line.reason for pool in line.pools]
    return [Curve(model, pool.machine, pool.tensor_parallel, pool.pipeline_parallel, pool.latency) for pool in pools]


def _complaints(page: QuestionPage) -> Iterable[str]:
    return (f"{field.label}: {message}" if field else message for field, message in page.errors)


def _alone(lone: Lone) -> str:
    then = f", then {time(lone.times.token_s)} a token" if lone.times.token_s else ""
    return (
        f"Before any queueing: one request alone on {with_article(lone.machine.name)}"
        f" ({lone.requests.prompt_tokens:,} tokens in, {lone.requests.output_tokens:,} out, the medians):"
        f" first token {time(lone.times.first_token_s)}{then}."
    )


def _work(bare: Bare) -> str:
    """What no schedule does with less: the least of each phase over what may be tried of a machine."""
    needs: dict[str, list[PhaseMachines]] = {}
    for pool in bare.kinds_of_pools():
        needs.setdefault(pool.machine.name, []).append(_need(bare, pool))
    parts = [
        f"{number(min(need.prefill for need in each))} {name} for prefill and"
        f" {number(min(need.decode for need in each))} for decode"
        for name, each in needs.items()
    ]
    spare = counted(bare.spec.failures, "machine")
    more = f" Each pool takes {spare} more, which may be lost." if bare.spec.failures else ""
    return f"The work alone needs {', or '.join(parts)}, each phase in the largest batches of its own.{more}"


def _need(bare: Bare, pool: PoolChoice) -> PhaseMachines:
    spec, model = bare.spec, resolve_model(bare.spec.model)
    parallel = (pool.tensor_parallel, pool.pipeline_parallel)
    return work_machines(
        model,
        pool.machine,
        pool.latency,
        bare.requests.statistics,
        spec.rate_req_per_s,
        *parallel,
        spec.scheduler_options.max_batch_size or MAX_BATCH_SIZE,
        kv_capacity(model, pool.machine, *parallel, spec.memory).tokens,
    )


def _first_designs(found: Context) -> tuple[str, float]:
    """The size of the first wave, by the counts proposed alone: making the designs takes longer than all the rest; and
    what it takes, by one design of each line."""
    able = [(line, grid(line, found.spec, bounds)) for line, bounds in zip(found.lines, found.bounds, strict=True)]
    able = [(line, counts) for line, counts in able if not line.reason]
    families = {line.family for line, _ in able}
    split = sum(family.startswith(f"{SPLIT}:") for family in families)
    words = (
        f"{sum(len(counts) for _, counts in able)} designs to try first: {len(families) - split} co-located and {split}"
        f" split famil{'y' if split == 1 else 'ies'}; what they show leads to the next."
    )
    failures = found.spec.failures
    cpu_s = sum(
        len(counts)
        * evaluated_cases(len(line.pools), failures)
        * predicted_cpu_s(line.design(counts[len(counts) // 2]).case, found.statistics)
        for line, counts in able
    )
    return words, cpu_s


def _span(least: float, most: float) -> str:
    """``4 to 18 s``, ``2 to 9 minutes``, ``0.5 to 2.3 hours``: in the unit of the larger."""
    worth, unit = (1, "s") if most < 90 else (60, "minutes") if most < 5400 else (3600, "hours")
    low, high = (max(1, round(end)) if worth == 1 else float(f"{end / worth:.2g}") for end in (least, most))
    return f"{number(high)} {unit}" if low == high else f"{number(low)} to {number(high)} {unit}"
