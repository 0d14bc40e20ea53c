from simcore.evaluation import Evaluation
from simcore.replications import close_designs


def evaluation(name, low, rate, high):
    return Evaluation(name, "evaluated", capacity_req_per_s=rate, capacity_low=low, capacity_high=high)


def test_designs_that_reach_the_best_ones_interval_are_close():
    found = [evaluation("best", 9.0, 10.0, 11.0), evaluation("near", 8.0, 8.5, 9.0), evaluation("far", 5.0, 6.0, 8.9)]
    assert close_designs(found) == ["best", "near"]


def test_a_best_design_that_stands_alone_needs_no_replication():
    assert close_designs([evaluation("best", 9.0, 10.0, 11.0), evaluation("far", 5.0, 6.0, 7.0)]) == []


def test_designs_without_a_capacity_are_never_close():
    assert close_designs([Evaluation("none", "infeasible"), evaluation("zero", 0.0, 0.0, 0.0)]) == []
