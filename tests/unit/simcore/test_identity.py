"""Ids of designs, and keys of what is stored, do not change when a dataclass gets another optional field."""

from dataclasses import replace

from simcore.families import design_id
from simcore.keys import capacity_key, question_key
from simcore.spec import Accelerator, Case, Machine, Model, decode_case, decode_study, encode

DEVICE = Accelerator("device", "Device", "maker", 1e15, 80 * 10**9, 3e12, 4e11, 700.0, 70.0)
MACHINE = Machine("server", "Server", DEVICE, 8, 5e10, 2000.0, 10_000.0)
MODEL = encode(Model("m", "M", 7 * 10**9, 32, 4096, 32, 8, 128, 11008, 32000, 8192))
MEASURED = replace(MACHINE, accelerator=replace(DEVICE, measured_as="h100-80gb"))


def case(machine: Machine = MACHINE) -> Case:
    pool = {"role": "mixed", "machine": encode(machine), "machines": 2, "tensor_parallel": 8}
    return decode_case({"model": MODEL, "pools": [pool], "scheduler": {"kind": "sarathi"}})


def test_a_design_keeps_the_id_and_the_key_it_had_before_later_fields_were_there():
    """Found before ``measured_as`` was a field. Where this fails for a new optional field: name it in
    ``simcore.spec.identity.LATER``, and every link to a design holds."""
    assert design_id(case()) == "8e173df23d01"
    assert capacity_key(case(), "trace", 0, "engine")[:16] == "d9e56e82f2922b60"


def test_a_field_that_is_set_counts():
    assert design_id(case(MEASURED)) != design_id(case())
    assert capacity_key(case(MEASURED), "trace", 0, "engine") != capacity_key(case(), "trace", 0, "engine")


def test_a_question_of_machines_without_later_fields_has_the_key_of_one_that_never_had_them():
    spec = {"model": MODEL, "workload": {"trace": "t.csv"}, "rate_req_per_s": 1.0}
    plain = encode(MACHINE)
    del plain["accelerator"]["measured_as"]
    keys = {
        question_key(decode_study({**spec, "machines": [{"machine": machine}]}), "trace")
        for machine in (plain, encode(MACHINE))
    }
    assert len(keys) == 1
    assert question_key(decode_study({**spec, "machines": [{"machine": encode(MEASURED)}]}), "trace") not in keys
