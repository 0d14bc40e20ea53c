"""A small real question of several shards, asked outside the web: `python -m tests.faults.small_study` starts it and
prints its id."""

import django


def main() -> None:
    django.setup()
    from planner.accounts.teams import local_user
    from planner.scenarios.services import create_scenario
    from planner.studies.services import start_study
    from planner.workloads.services import save_mix
    from simcore.traces import SyntheticSpec

    user = local_user()
    team = user.teams.get()
    workload = save_mix(team, user, "A little chat", SyntheticSpec("conversation", 10.0, 10_000))
    inputs = {
        "model": "bloom-176b",
        "workload": str(workload.pk),
        "rate_req_per_s": 10,
        "machines": ["dgx-h100", "dgx-a100"],
        "families": ["sarathi:dgx-h100", "sarathi:dgx-a100", "splitwise:dgx-h100+dgx-a100"],
        "mixed_counts": "1-8",
        "prefill_counts": "1-4",
        "decode_counts": "1-4",
        "price_book": "list",
        "latency": "measured",
    }
    print(start_study(user, create_scenario(user, inputs)).pk)


if __name__ == "__main__":
    main()
