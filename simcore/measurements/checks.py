"""Whether a serving result agrees with itself: what must hold of any system in a steady state, whoever measured it.

- Little's law: requests/s x how long a request stays = requests in flight. Where it fails, the stays are tried as other
  tools define TPOT (with the prefill in it) and in other units (ms for s), and the reason says which of them would fit.
- Requests/s x output tokens = output tokens/s.
- E2E = TTFT + TPOT x (output tokens - 1), and requests/s x the run's time = requests completed, where a file has both.
- No more comes out of an open loop than it offers; of a burst no more are decoded at once than were sent, nor fewer
  than one.

A result that breaks one of these is left out. TTFT alone is not used where it says something else: of a burst how it
drained, of an open loop that offers more than is served how long the run was, of a run with fewer than three requests
for each in flight how the first wave went; of a mean far above its median the median is taken.
"""

from __future__ import annotations

from dataclasses import replace

from simcore.measurements.points import Flag, Flags, ServingPoint

IN_FLIGHT = (0.6, 1.25)
"""Measured over stated concurrency: a run's first and last seconds have fewer in flight, never more."""
TOKENS = (0.8, 1.25)
STAYS = (0.6, 1.6)
"""Wide: E2E and TPOT are means over requests of different lengths."""
COUNTED = (0.8, 1.25)
OFFERED = 0.9
MOST_OFFERED = 1.5
FAILED_SHARE = 0.05
WAVES = 3
DRAINED = 3
CHUNKED = 1.5
SHORTEST_S = 30.0
UNITS = {1e-3: "1000 times smaller (ms were read as s)", 1e3: "1000 times larger (s were read as ms)"}


def checked(point: ServingPoint, flags: Flags) -> ServingPoint | None:
    """The point, without what cannot be used of it; None where it is left out."""
    for check in (_enough, _failures, _tokens, _stays, _counted, _offered, _decoded, _little):
        broken = check(point)
        if broken is not None:
            flags.add(Flag(point.file, point.where, *broken, "row left out"))
            return None
    _chunked(point, flags)
    return _without_doubtful_ttft(point, flags)


def _without_doubtful_ttft(point: ServingPoint, flags: Flags) -> ServingPoint:
    if point.ttft_s is None and point.ttft_median_s is None:
        return point
    reason = _burst(point) or _saturated(point) or _short(point)
    if reason is not None:
        flags.add(Flag(point.file, point.where, "TTFT", "", reason, "not used"))
        return replace(point, ttft_s=None, ttft_median_s=None)
    reason = _drained(point)
    if reason is not None:
        flags.add(Flag(point.file, point.where, "mean TTFT", "", reason, "not used"))
        return replace(point, ttft_s=None)
    return point


Broken = tuple[str, str, str] | None
"""Field, what was found, why it does not do."""


def _enough(point: ServingPoint) -> Broken:
    needed = {
        "TPOT, TTFT or E2E": point.tpot_s or point.ttft_s or point.ttft_median_s or point.e2e_s,
        "prompt tokens (give --prompt-tokens)": point.prompt_tokens,
        "output tokens (give --output-tokens)": point.output_tokens,
    }
    missing = [name for name, value in needed.items() if value is None]
    if point.completed == 0:
        return "completed", "0", "no request completed"
    if missing:
        return "", "", f"found no usable {', '.join(missing)}"
    if point.load is None and not (point.requests_per_s and point.stays_s):
        return "", "", "found no load (give --concurrency or --rate), nor requests/s and times that tell it"
    return None


def _failures(point: ServingPoint) -> Broken:
    if point.failed is None or point.completed is None:
        return None
    share = point.failed / max(point.failed + point.completed, 1)
    if share <= FAILED_SHARE:
        return None
    sent = point.failed + point.completed
    return "failed", str(point.failed), f"{share:.0%} of {sent:,} requests failed, at most {FAILED_SHARE:.0%} do"


def _tokens(point: ServingPoint) -> Broken:
    if not (point.requests_per_s and point.output_tokens and point.output_tokens_per_s):
        return None
    made = point.requests_per_s * point.output_tokens
    if TOKENS[0] <= point.output_tokens_per_s / made <= TOKENS[1]:
        return None
    found = f"{point.output_tokens_per_s:,.4g} output tokens/s"
    return "output tokens/s", found, f"requests/s x output tokens is {made:,.4g}"


def _stays(point: ServingPoint) -> Broken:
    if not (point.e2e_s and point.ttft_s and point.tpot_s and point.output_tokens):
        return None
    made = point.ttft_s + point.tpot_s * (point.output_tokens - 1)
    if STAYS[0] <= point.e2e_s / made <= STAYS[1]:
        return None
    return (
        "E2E",
        f"{point.e2e_s:.4g} s",
        f"TTFT + TPOT x (output tokens - 1) is {made:.4g} s{_unit(point.e2e_s / made)}",
    )


def _counted(point: ServingPoint) -> Broken:
    if not (point.completed and point.duration_s and point.requests_per_s):
        return None
    rate = point.completed / point.duration_s
    if COUNTED[0] <= point.requests_per_s / rate <= COUNTED[1]:
        return None
    found = f"{point.completed:,} requests in {point.duration_s:.4g} s are {rate:.4g}"
    return "requests/s", f"{point.requests_per_s:.4g}", found


def _decoded(point: ServingPoint) -> Broken:
    if point.load != "burst" or not (point.requests_per_s and point.tpot_s and point.output_tokens and point.completed):
        return None
    decoding = point.requests_per_s * point.tpot_s * (point.output_tokens - 1)
    if IN_FLIGHT[0] <= decoding <= IN_FLIGHT[1] * point.completed or point.output_tokens <= 1:
        return None
    found = f"requests/s x TPOT x (output tokens - 1) = {decoding:.4g} decoded at once"
    return "TPOT", f"{point.tpot_s:.4g} s", f"{found}, of {point.completed:,} sent at once"


def _offered(point: ServingPoint) -> Broken:
    if point.load != "rate" or not point.rate_req_per_s or not point.requests_per_s:
        return None
    if point.requests_per_s <= MOST_OFFERED * point.rate_req_per_s:
        return None
    return "requests/s", f"{point.requests_per_s:.4g}", f"more than the {point.rate_req_per_s:.4g} offered"


def _little(point: ServingPoint) -> Broken:
    """For loads that state how many are in flight."""
    stay, rate = point.stays_s, point.requests_per_s
    if point.load != "concurrency" or not point.concurrency or not stay or not rate:
        return None
    ratio = rate * stay / point.concurrency
    if IN_FLIGHT[0] <= ratio <= IN_FLIGHT[1]:
        return None
    found = f"{rate:.4g} requests/s x {stay:.4g} s = {rate * stay:.4g} in flight"
    return "concurrency", f"{point.concurrency:g}", f"Little's law: {found}{_what_would_fit(point, ratio)}"


def _what_would_fit(point: ServingPoint, ratio: float) -> str:
    """Which definition or unit would make the figures agree."""
    if point.tpot_s and point.output_tokens and point.requests_per_s and point.concurrency:
        whole = point.requests_per_s * point.tpot_s * point.output_tokens / point.concurrency
        if IN_FLIGHT[0] <= whole <= IN_FLIGHT[1]:
            return "; it fits if TPOT includes the prefill (requests/s x TPOT x output tokens)"
    return _unit(ratio)


def _unit(ratio: float) -> str:
    """The unit of the figure above that would make the two agree."""
    fitting = (words for factor, words in UNITS.items() if IN_FLIGHT[0] <= ratio * factor <= IN_FLIGHT[1])
    return next((f"; it fits if times are {words}" for words in fitting), "")


def _burst(point: ServingPoint) -> str | None:
    return "all requests were sent at once: it says how the burst drained" if point.load == "burst" else None


def _short(point: ServingPoint) -> str | None:
    if point.load == "concurrency" and point.concurrency and point.completed is not None:
        if point.completed < WAVES * point.concurrency:
            return f"{point.completed} requests at {point.concurrency:g} in flight: the first wave weighs too much"
    elif point.duration_s is not None and point.duration_s < SHORTEST_S:
        return f"a run of {point.duration_s:.3g} s, expected at least {SHORTEST_S:g}"
    return None


def _saturated(point: ServingPoint) -> str | None:
    if point.load != "rate" or not point.rate_req_per_s or not point.requests_per_s:
        return None
    share = point.requests_per_s / point.rate_req_per_s
    if share >= OFFERED:
        return None
    return f"{share:.0%} of the {point.rate_req_per_s:.4g} requests/s offered were served: the queue grew"


def _drained(point: ServingPoint) -> str | None:
    """A mean far above the median: a few requests that waited for long (a burst at the start) make most of it."""
    if point.ttft_s is None or point.ttft_median_s is None or point.load == "rate":
        return None
    times = point.ttft_s / point.ttft_median_s
    return f"it is {times:.1f} times the median, which is taken: a burst drained" if times > DRAINED else None


def _chunked(point: ServingPoint, flags: Flags) -> None:
    if point.itl_s and point.tpot_s and point.itl_s > CHUNKED * point.tpot_s:
        found = f"ITL {point.itl_s * 1e3:.4g} ms, TPOT {point.tpot_s * 1e3:.4g} ms"
        reason = f"about {point.itl_s / point.tpot_s:.1f} tokens come in a piece of the stream; TPOT is used"
        flags.add(Flag(point.file, point.where, "ITL", found, reason, "noted"))
