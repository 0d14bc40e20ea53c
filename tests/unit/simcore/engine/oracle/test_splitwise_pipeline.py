"""Machines of the splitwise kinds with more than one pipeline stage, by hand (times in ns, see tests/clusters.py)."""

from simcore.engine.oracle.cluster import run
from tests.clusters import NS, cluster, in_ns, replica, scheduler, transfer

TWO_STAGES = [replica(stages=2)]
SENT_AT_ONCE = transfer(ps_per_token=1)


def test_a_second_batch_is_selected_while_the_first_is_in_flight() -> None:
    result = run(cluster(scheduler("splitwise_baseline"), [(0, 40, 1), (5, 20, 1)], TWO_STAGES))
    # first: 0-40, 40-80; second: selected at 5, first stage 40-60, second stage 80-100
    assert in_ns(result.requests.first_scheduled_ps) == [0, 40]
    assert in_ns(result.requests.finish_ps) == [80, 100]


def test_each_micro_batch_has_its_share_of_max_batch_size() -> None:
    policy = scheduler("splitwise_baseline", max_batch_size=4, simultaneous_arrivals="together")
    result = run(cluster(policy, [(0, 10, 2)] * 4, TWO_STAGES))
    # two prompts to 40, two to 60; the decodes of the first two are selected at 40, of the others at 60
    assert result.replicas.iterations.tolist() == [[2, 2, 0]]
    assert in_ns(result.requests.first_token_ps) == [40, 40, 60, 60]
    assert in_ns(result.requests.finish_ps) == [240, 240, 340, 340]


def test_a_request_in_flight_is_not_selected_again() -> None:
    result = run(cluster(scheduler("splitwise_baseline"), [(0, 50, 3), (120, 30, 1)], TWO_STAGES))
    # prompt to 100, its decode alone to 300; the second prompt, selected at 120, passes 200-230 and 300-330;
    # the second decode, selected at 300 beside it, 300-400 and 400-500
    assert in_ns(result.requests.finish_ps) == [500, 330]
    assert result.replicas.iterations.tolist() == [[2, 2, 0]]


def test_decodes_go_on_as_their_micro_batch_while_nothing_would_join_them() -> None:
    policy = scheduler("splitwise_baseline", max_batch_size=4, simultaneous_arrivals="together")
    result = run(cluster(policy, [(0, 10, 6)] * 4, TWO_STAGES))
    assert result.replicas.iterations.tolist() == [[2, 10, 0]]
    assert result.replicas.decode_tokens.sum() == 20


def test_prefill_and_decode_machines_may_have_different_stages() -> None:
    pair = [replica("prefill", stages=3), replica("decode", stages=2)]
    result = run(cluster(scheduler("splitwise"), [(0, 100, 3)], pair, SENT_AT_ONCE))
    # three stages of 100, sent in no time (1 ps a token), two decodes of two stages each
    assert in_ns(result.requests.first_token_ps) == [300]
    assert in_ns(result.requests.finish_ps) == [300 + 0.1 + 400]
    assert result.replicas.busy_ps.tolist() == [[300 * NS, 0, 0], [0, 400 * NS, 0]]
    # each alone in its pipeline: two of three stages stand idle at a time, one of two
    assert result.replicas.bubble_ps.sum(axis=(1, 2)).tolist() == [600 * NS, 400 * NS]


def test_layers_are_sent_as_they_end_on_all_stages() -> None:
    pair = [replica("prefill", stages=2), replica("decode")]
    layerwise = transfer(mode="layerwise", ps_per_token=2 * NS, layers=10)
    result = run(cluster(scheduler("splitwise"), [(0, 1000, 2)], pair, layerwise))
    # prefill to 2000; the first of ten layers is done at 200, then 2000 tokens' time: 2200
    assert in_ns(result.requests.first_token_ps) == [2000]
    assert in_ns(result.requests.finish_ps) == [2200 + 100]


def test_passes_are_counted_of_what_is_neither_in_flight_nor_chosen() -> None:
    """Two stages, one place in each: the first's decode goes first once it was passed over four times."""
    asked = [(0, 10, 3)] + [(5 + 10 * i, 10, 1) for i in range(16)]
    places = {"max_batch_size": 2}
    fair = run(cluster(scheduler("splitwise_baseline", **places), asked, TWO_STAGES))
    none = run(cluster(scheduler("splitwise_baseline", ageing="none", **places), asked, TWO_STAGES))
    # without ageing its decodes come after all prompts, the last of which enters the second stage at 170
    assert in_ns(none.requests.finish_ps)[0] == 170 + 2 * 200
    # its prompt ends at 20; the selections of 20, 30, 40 and 50 pass its decode over, that of 60 takes it first;
    # it ends at 260, yields to a prompt, and is taken first again at 270
    assert in_ns(fair.requests.finish_ps)[0] == 270 + 200
