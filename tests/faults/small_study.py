"""A small real question of several shards, asked outside the web: `python -m tests.faults.small_study BOOK`, priced by
that book, starts it and prints its id."""

import sys

import django

WORKLOAD = "A little chat"


def main(price_book: str) -> None:
    django.setup()
    from planner.accounts.teams import local_user
    from planner.scenarios.services import create_scenario
    from planner.studies.services import start_study
    from planner.workloads.models import Workload
    from planner.workloads.services import save_mix
    from simcore.traces import SyntheticSpec

    user = local_user()
    team = user.teams.get()
    asked_before = Workload.objects.visible_to(user).filter(name=WORKLOAD).first()
    workload = asked_before or save_mix(team, user, WORKLOAD, SyntheticSpec("conversation", 10.0, 10_000))
    inputs = {
        "model": "bloom-176b",
        "workload": str(workload.pk),
        "rate_req_per_s": 10,
        "machines": ["dgx-h100", "dgx-a100"],
        "families": ["sarathi:dgx-h100", "sarathi:dgx-a100", "splitwise:dgx-h100+dgx-a100"],
        "mixed_counts": "1-8",
        "prefill_counts": "1-4",
        "decode_counts": "1-4",
        "price_book": price_book,
        "latency": "measured",
    }
    print(start_study(user, create_scenario(user, inputs)).pk)


if __name__ == "__main__":
    main(sys.argv[1])
