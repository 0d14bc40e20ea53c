"""Under which key an evaluation is stored: the hash of all that determines it, and of nothing else.

The cluster and its rules with every catalogue row as it is now (an edited row makes another key, whatever its id), the
content of measured step times, the SLO, the requests, how they arrive, the seeds, the engine. Left out is what no
simulated figure depends on: prices, PUE, names, what a machine's nameplate says and how many go into a rack.

What a design can hold at most does not depend on the rate that a study asks for, so a design has two keys: one for its
capacity, one for its run at a rate. Another required rate costs one run a design, not a search. Whether it holds what a
better design holds has a key of its own.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from simcore.catalogue import resolve_accelerator, resolve_machine, resolve_model
from simcore.spec import Case, LatencySpec, Machine, PoolSpec, SlowdownSlo, SpecError, StudySpec
from simcore.spec.identity import identity

LABELS = frozenset({"name", "vendor"})
RATINGS = frozenset({"nameplate_w", "provisioned_w", "machines_per_rack"})
"""Of a machine; applied when a result is read, like prices. Drawn power follows from the other figures."""
SITE = ("prices", "pue")
"""Of a case: what the site pays and takes for what is simulated."""
Json = dict[str, Any]


def capacity_key(case: Case, trace_hash: str, seed: int, engine_version: str) -> str:
    """The key of what a design can hold under one seed, at whatever rate a study asks. SpecError: an unknown id, a
    missing file."""
    return _hash("capacity", physics(case), trace_hash, seed, engine_version)


def rate_key(case: Case, trace_hash: str, rate_req_per_s: float, engine_version: str) -> str:
    """The key of the design's run at one rate (under the case's own seed). SpecError as ``capacity_key``."""
    return _hash("rate", physics(case), trace_hash, float(rate_req_per_s), engine_version)


def trial_key(case: Case, trace_hash: str, rate_req_per_s: float, engine_version: str) -> str:
    """The key of whether a design holds one rate (under the case's own seed). SpecError as ``capacity_key``."""
    return _hash("trial", physics(case), trace_hash, float(rate_req_per_s), engine_version)


def question_key(spec: StudySpec, trace_hash: str) -> str:
    """The key of all that a study tries: studies of one key and one engine try the same designs, with the same results.

    Left out is money, which no search looks at, what a chart holds equal, and how the workload is called, as its
    requests count.
    """
    plain: Json = identity(spec)
    money = {"prices": None, "pue": None, "limits": plain["limits"] | {"usd_per_month": None}, "hold_equal": None}
    return _hash("question", plain | money | {"workload": None}, trace_hash)


def physics(case: Case) -> Json:
    """All of a case that its evaluation depends on, as JSON."""
    taken: Json = {"model": _plain(resolve_model(case.model)), "latency": _latency(case.latency), "slo": _slo(case)}
    taken["pools"] = [_pool(pool, case) for pool in case.pools]
    rest = {name: identity(value) for name, value in vars(case).items() if name not in (*taken, *SITE)}
    return taken | rest


def _pool(pool: PoolSpec, case: Case) -> Json:
    taken = {"machine": _machine(resolve_machine(pool.machine)), "latency": _latency(pool.latency or case.latency)}
    return taken | {name: identity(value) for name, value in vars(pool).items() if name not in taken}


def _slo(case: Case) -> Json:
    """With the reference machine's figures in place of its id."""
    plain: Json = identity(case.slo)
    if isinstance(case.slo, SlowdownSlo):
        plain["reference"] = _machine(resolve_machine(case.slo.reference))
        if case.slo.reference_latency is not None:
            plain["reference_latency"] = _with_content(dict(case.slo.reference_latency))
    return plain


@lru_cache(maxsize=64)
def _machine(machine: Machine) -> Json:
    kept = {name: value for name, value in _plain(machine).items() if name not in RATINGS}
    return kept | {"accelerator": _plain(resolve_accelerator(machine))}


@lru_cache(maxsize=64)
def _plain(row: Any) -> Json:
    return {name: value for name, value in identity(row).items() if name not in LABELS}


def _latency(latency: LatencySpec) -> Json:
    return _with_content(identity(latency))


def _with_content(latency: Json) -> Json:
    """A latency source with the hash of the file that it names, or that it holds, in place of its path."""
    path, text = latency.get("path"), latency.get("calibration")
    if text is not None:
        return latency | {"path": hashlib.sha256(text.encode()).hexdigest(), "calibration": None}
    if path is None:
        return latency
    try:
        return latency | {"path": hashlib.sha256(Path(path).read_bytes()).hexdigest()}
    except OSError as error:
        raise SpecError(f"latency.path: '{path}' cannot be read ({error.strerror}), expected a file") from None


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
