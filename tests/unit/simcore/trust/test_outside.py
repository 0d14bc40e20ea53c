"""Inputs that no measurement covers, each by name."""

from dataclasses import replace

import pytest

from simcore.catalogue import machine, model
from simcore.spec import LatencySpec, SpecError
from simcore.trust import outside as rules
from simcore.trust.groups import ErrorGroup, Place
from simcore.trust.outside import Asked, Curve, curves_of, outside_answer, outside_measured
from simcore.trust.sentences import outside_words
from tests.unit.simcore.runs import case, trace

CHAT = Asked(1000.0, 200.0, 4000)


def curve(name="llama-3.1-70b", on="dgx-h100", tp=8, pp=1, **latency):
    return Curve(model(name), machine(on), tp, pp, LatencySpec(**{"engine": "kernel"} | latency))


def found(*curves, asked=CHAT):
    return outside_measured(curves, asked)


@pytest.fixture
def measured(monkeypatch):
    """H100 at TP2 and TP8 by kernels, and whole engines at TP8: a dense model, and one with experts."""

    def group(name, tp, phase, precision="bf16"):
        return ErrorGroup(Place(name, "h100-80gb", tp, precision), phase, 9, 0.0, 0.1, False, "made up")

    groups = {
        "kernel": (group("llama-3.1-70b", 2, "decode"), group("llama-3.1-70b", 8, "prefill")),
        "vllm-2026": (group("mixtral-8x7b", 8, "tpot"),),
    }
    monkeypatch.setattr(rules, "error_groups", lambda engine: groups.get(engine, ()))


@pytest.mark.usefixtures("measured")
class TestRooflines:
    def test_what_was_measured_is_inside(self):
        assert found(curve(), curve(tp=4), curve(engine="vllm-2026")) == []

    def test_an_accelerator_without_a_measurement(self):
        assert found(curve(on="dgx-b200")) == [
            "accelerator b200-180gb: no time of it was compared with kernel, others' stand in"
        ]

    def test_a_form_that_no_measured_model_has(self):
        assert found(curve("mixtral-8x7b")) == ["experts of mixtral-8x7b: no such model was measured with kernel"]
        assert found(curve("mixtral-8x7b", engine="vllm-2026")) == []
        (line, *_) = found(curve("deepseek-v3", engine="vllm-2026"))
        assert line == "latent attention of deepseek-v3: no such model was measured with vllm-2026"

    @pytest.mark.parametrize("tp", [1, 16])
    def test_a_tensor_parallel_degree_beyond_those_measured(self, tp):
        assert found(curve(tp=tp)) == [f"tensor_parallel {tp} on h100-80gb: measured at 2 to 8"]

    def test_a_pipeline(self):
        assert found(curve(pp=2)) == ["pipeline_parallel 2: no pipeline was measured"]

    def test_a_precision_that_was_not_measured(self):
        fp4 = replace(curve(), model=replace(model("llama-3.1-70b"), weight_precision="fp4"))
        assert found(fp4) == ["fp4 weights: h100-80gb was measured with bf16"]

    def test_kernels_without_a_whole_engine(self, monkeypatch):
        """Another engine's software does not count."""
        only, other = rules.error_groups("kernel"), Place("mixtral-8x7b", "h100-80gb", 8, "bf16", "trtllm")
        whole = (ErrorGroup(other, "tpot", 9, 0.0, 0.1, False, "made up"),)
        monkeypatch.setattr(rules, "error_groups", lambda engine: only if engine == "kernel" else whole)
        assert found(curve(engine="vllm-2026")) == [
            "engine vllm-2026 on h100-80gb: its kernels were measured, no whole engine; host time is others'"
        ]

    def test_prompts_longer_than_any_measured(self):
        long = replace(CHAT, long_prompt_tokens=32_000)
        assert found(curve(), curve(tp=2), asked=long) == [
            "prompts of 32,000 tokens: times of kernel were measured to 8,192"
        ]

    def test_more_decodes_at_once_than_any_measured(self):
        asked = case(latency={"engine": "kernel"}, scheduler={"kind": "splitwise_baseline", "max_batch_size": 300},
                     model="llama-3.1-70b")  # fmt: skip
        short = Asked(100.0, 10.0, 200)
        assert outside_measured(curves_of([asked]), short) == [
            "up to 300 decodes at once on h100-80gb: times were measured to 256"
        ]
        assert outside_measured(curves_of([asked]), Asked(20_000.0, 10.0, 200)) == []
        fewer = replace(asked, scheduler=replace(asked.scheduler, max_batch_size=280))
        assert outside_measured(curves_of([fewer, asked]), short) == [
            "up to 300 decodes at once on h100-80gb: times were measured to 256"
        ]


def test_tables_of_step_times_reach_as_far_as_their_knots():
    assert found(curve("bloom-176b", source="measured")) == []
    assert found(curve("bloom-176b", source="measured"), asked=replace(CHAT, long_prompt_tokens=50_000)) == [
        "prompts of 50,000 tokens: step times of h100-80gb were measured to 32,768"
    ]
    (line,) = found(curve("bloom-176b", on="dgx-h100-pcap", source="measured"))
    assert line == "dgx-h100-pcap: its prefill times are those of h100-80gb x 1.3, assumed"


def test_times_of_the_user_are_never_outside():
    times = {"tokens": (1, 10), "prefill_s": (0.1, 0.2), "decode_s": (0.1, 0.2), "hybrid_s": (0.1, 0.2)}
    assert found(curve(source="curve", **times), asked=replace(CHAT, long_prompt_tokens=10**6)) == []


def test_a_missing_calibration_is_an_error():
    with pytest.raises(SpecError, match=r"latency\.path"):
        found(curve(source="calibrated", path="no-such-file.json"))


def test_one_prompt_in_a_hundred_is_longer():
    requests = trace([float(i) for i in range(200)], list(range(1, 201)), [10] * 200)
    assert Asked.of(requests) == Asked(100.5, 10.0, 198)


def test_the_banner_names_some_and_counts_the_rest():
    assert outside_words([]) == ""
    assert outside_words(["a", "b"]) == "Outside what was measured: a; b."
    assert outside_words([str(i) for i in range(9)]).endswith("4; 5; and 3 more.")


@pytest.mark.usefixtures("measured")
def test_the_answers_own_inputs_come_before_those_of_designs_beside_it():
    def asked_for(machine, tp):
        pools = [{"role": "mixed", "machine": machine, "tensor_parallel": tp}]
        return case(
            model="llama-3.1-70b",
            scheduler={"kind": "vllm_v1"},
            pools=pools,
            latency={"source": "roofline", "engine": "kernel"},
        )

    answer, beside = asked_for("dgx-h100", 8), asked_for("dgx-a100", 8)
    own = outside_measured(curves_of([answer]), CHAT)
    others = [line for line in outside_measured(curves_of([beside]), CHAT) if line not in own]
    assert others
    found = outside_answer([answer], [answer, beside], CHAT)
    assert found == own + [f"{line} (a design shown beside the answer)" for line in others]
    assert outside_answer([answer], [answer], CHAT) == own
