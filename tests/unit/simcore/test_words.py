import pytest

from simcore.words import digits_apart, dollars, limit_value, listed, number, percent, sentences, with_article


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1234.5, "1,230"), (0.04567, "0.0457"), (78.06, "78.1"), (1e-7, "0.0000001"), (-3.14159, "-3.14")],
)
def test_numbers_have_three_significant_digits(value, text):
    assert number(value) == text


@pytest.mark.parametrize(("value", "text"), [(417_860, "$418,000"), (999.994, "$999.99"), (24.314, "$24.31")])
def test_dollars(value, text):
    assert dollars(value) == text


@pytest.mark.parametrize(("share", "text"), [(0.1249, "12 %"), (0.034, "3.4 %"), (0.0, "0 %"), (-0.2, "20 %")])
def test_percent(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("ttft_s", 0.42, "0.42 s"),
        ("tbt_s", 0.0314, "31.4 ms"),
        ("tbt_slowdown", 1.472, "1.47×"),
        ("attainment", 0.98, "98 %"),
        ("ttft_s", None, "unbounded"),
    ],
)
def test_a_limit_has_its_unit(metric, value, text):
    assert limit_value(metric, value) == text


@pytest.mark.parametrize(
    ("items", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_lists_are_read_aloud(items, text):
    assert listed(items) == text


@pytest.mark.parametrize(("value", "other", "digits"), [(7.2, 6, 3), (1.25004, 1.25, 6), (None, 1, 3), (1.0, 1.0, 3)])
def test_numbers_that_differ_read_differently(value, other, digits):
    assert digits_apart(value, other) == digits


def test_remarks_become_sentences():
    assert sentences(["the trace is short", "It was used once.", ""]) == "The trace is short. It was used once."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("DGX A100", "a DGX A100"),
        ("AWS g6.48xlarge, 8 x L4", "an AWS g6.48xlarge, 8 x L4"),
        ("8 x A40, PCIe server", "an 8 x A40, PCIe server"),
        ("2 x Xeon CPU Max server", "a 2 x Xeon CPU Max server"),
        ("GB200 NVL72 rack", "a GB200 NVL72 rack"),
        ("HGX B200", "an HGX B200"),
        ("Intel server", "an Intel server"),
        ("Lambda node", "a Lambda node"),
    ],
)
def test_names_have_the_article_that_is_heard(name, text):
    assert with_article(name) == text
