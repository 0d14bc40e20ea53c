"""Files of actuals, read: both formats by their content, every fault with its line and column."""

import gzip
import io
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from planner.finance.actuals import table
from planner.finance.actuals.matching import Frame, reason, services_at_first, totals
from planner.finance.actuals.reading import FOCUS, PLAIN, Read, read
from planner.finance.actuals.table import FileError

D = Decimal
MONTHS = "month,cost,gpu_hours,input_tokens,output_tokens,kwh\n2027-01,1000.10,744,5000,200,33.5\n2027-02,900,,,,\n"
FOCUS_HEAD = (
    "BilledCost,EffectiveCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ConsumedQuantity,"
    "ConsumedUnit,PricingQuantity,PricingUnit,ServiceCategory,ServiceName,SkuId,ChargeDescription\n"
)
FRAME = Frame("d1", ("2027-01", "2027-02"), {"mixed": D(8), "": D(8)})


def found(text: str | bytes, cost: str = "EffectiveCost", hours_of: str = "machines") -> Read:
    return read(io.BytesIO(text.encode() if isinstance(text, str) else text), cost, hours_of)


def focus(*rows: str, **options: str) -> Read:
    return found(FOCUS_HEAD + "".join(f"{row}\n" for row in rows), **options)


def usage(quantity: str, unit: str, *, sku: str = "s", category: str = "Compute", kind: str = "Usage") -> str:
    day = "2027-01-05T00:00:00Z,2027-01-06T00:00:00Z"
    return f"12.5,10.25,USD,{kind},{day},{quantity},{unit},,,{category},chat,{sku},"


def test_a_table_of_months() -> None:
    one = found(MONTHS)
    assert (one.format, one.cost_column, one.unread) == (PLAIN, "cost", ())
    january, february = one.charges
    assert (january.line, january.cost, str(january.month)) == (2, D("1000.10"), "2027-01")
    assert january.quantities == {"accelerator_hours": 744, "input": 5000, "output": 200, "kwh": D("33.5")}
    assert february.quantities == {}
    assert january.end == datetime(2027, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "written",
    [
        gzip.compress(MONTHS.encode()),
        b"\xef\xbb\xbf" + MONTHS.encode(),
        MONTHS.replace("\n", "\r\n").encode(),
        MONTHS.replace(",", ";").encode(),
        MONTHS.replace(",", "\t").encode(),
        MONTHS.replace("gpu_hours", "GPU Hours").replace("month", "Month").encode(),
    ],
    ids=["gzip", "BOM", "CRLF", "semicolons", "tabs", "other spelling"],
)
def test_however_it_is_written(written: bytes) -> None:
    assert found(written).charges == found(MONTHS).charges


@pytest.mark.parametrize(
    ("quantity", "unit", "expected"),
    [
        ("24", "Hours", {"machine_hours": 24}),
        ("24", "GPU-Hours", {"accelerator_hours": 24}),
        ("1.5", "1000 Tokens", {"output": 1500}),
        ("2", "MWh", {"kwh": 2000}),
        ("7", "GB-Months", {}),
    ],
)
def test_units_of_focus(quantity: str, unit: str, expected: dict[str, int]) -> None:
    (charge,) = focus(usage(quantity, unit, sku="output-tokens")).charges
    assert (charge.quantities, charge.cost) == (expected, D("10.25"))
    assert charge.uncounted == ("" if expected else unit)


def test_focus_cost_columns_and_hours() -> None:
    assert focus(usage("24", "Hours"), cost="BilledCost").charges[0].cost == D("12.5")
    assert focus(usage("24", "Hours"), hours_of="accelerators").charges[0].quantities == {"accelerator_hours": 24}
    assert focus(usage("24", "Hours", category="Networking")).charges[0].quantities == {}
    assert focus(usage("24", "Hours", kind="Purchase")).charges[0].quantities == {}
    cached, prompt = focus(usage("5", "Tokens", sku="cached-input"), usage("5", "Tokens", sku="Prompt tokens")).charges
    assert (set(cached.quantities), set(prompt.quantities)) == ({"cached_input"}, {"input"})


def test_focus_pricing_where_nothing_is_consumed() -> None:
    day = "2027-01-05 00:00:00,2027-01-06 00:00:00"
    (charge,) = focus(f"0,3,USD,Usage,{day},,,3,1000000 Tokens,AI and Machine Learning,chat,,Input tokens").charges
    assert charge.quantities == {"input": 3_000_000}
    assert found(FOCUS_HEAD.lower() + usage("1", "Hours") + "\n").format == FOCUS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: found nothing, expected a row of column names"),
        ("a,b\n1,2\n", "line 1: found no known columns, expected a FOCUS data set"),
        ("month,cost\n", "line 2: found no rows"),
        ("month,cost\n2027-13,5\n", "line 2: month: found '2027-13', expected a month such as 2027-01"),
        ("month,cost\n2027-01,5\n2027-02,x\n", "line 3: cost: found 'x', expected a number such as 1234.56"),
        ('month,cost\n2027-01,"1,234.5"\n', "line 2: cost: found '1,234.5', expected a number"),
        ("month,cost\n2027-01,\n", "line 2: cost: found nothing, expected a number"),
        ("month,cost\n2027-01,NaN\n", "line 2: cost: found 'NaN'"),
        ("month,cost,gpu_hours\n2027-01,5,-1\n", "line 2: gpu_hours: found -1, expected zero or more"),
        ("month,cost\n2027-01,5,6\n", "line 2: found 3 cells, expected 2"),
        ("month,cost,amount\n2027-01,5,6\n", "line 1: found cost and amount, which say the same"),
        ("month,cost_usd,currency\n2027-01,5,EUR\n", "line 1: found cost_usd and a currency"),
        ("period_start,period_end,cost\n2027-01-02,2027-01-01,5\n", "line 2: period_end: found 2027-01-01"),
        (FOCUS_HEAD.replace("EffectiveCost", "X"), "found no column EffectiveCost, which was chosen; found BilledCost"),
        (FOCUS_HEAD + usage("x", "Hours"), "line 2: ConsumedQuantity: found 'x'"),
        (FOCUS_HEAD.replace("SkuId", "BilledCost"), "line 1: found column BilledCost twice"),
        (b"month,cost\n2027-01,5\xff\n", "found bytes that are no UTF-8"),
        (gzip.compress(MONTHS.encode(), mtime=0)[:30], "the gzip file ends early or is damaged"),
    ],
)
def test_what_is_wrong_is_said_with_line_and_column(text: str | bytes, words: str) -> None:
    with pytest.raises(FileError) as refused:
        found(text)
    assert words in str(refused.value)


def test_many_faults_are_told_and_then_no_more() -> None:
    with pytest.raises(FileError) as refused:
        found("month,cost\n" + "x,y\n" * 100)
    assert len(refused.value.lines) == 21
    assert "not read, after 20 faults" in refused.value.lines[-1]


def test_a_file_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_ROWS", 2)
    with pytest.raises(FileError, match="line 4: found more than 2 rows"):
        found("month,cost\n" + "2027-01,1\n" * 3)
    monkeypatch.setattr(table, "MOST_UNPACKED_BYTES", 20_000)
    with pytest.raises(FileError, match="MB unpacked"):
        found(gzip.compress(b"month,cost\n" + b" " * 1_000_000))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("2027-01,5,USD,chat,mixed,d1", ""),
        ("2027-01,5,USD,chat,,", ""),
        ("2027-01,5,USD,mail,,", "service mail: not one of the study's"),
        ("2027-01,5,EUR,chat,,", "currency EUR: the study's price book has no rate for it, expected one of USD"),
        ("2027-01,5,USD,chat,decode,", "pool decode, expected one of mixed, facility, shared"),
        ("2027-01,5,USD,chat,,d2", "design d2, expected d1"),
        ("2026-12,5,USD,chat,,", "month 2026-12: the forecast has 2027-01 to 2027-02"),
    ],
)
def test_why_a_row_does_not_count(row: str, why: str) -> None:
    (charge,) = found(f"month,cost,currency,service,pool,design\n{row}\n").charges
    assert reason(charge, FRAME, ["chat"]) == why


def test_a_period_over_two_months_a_tax_and_a_forecast_do_not_count() -> None:
    (charge,) = found("period_start,period_end,cost\n2027-01-31T20:00:00-05:00,2027-02-02,5\n").charges
    assert reason(charge, FRAME, [""]) == ""  # 01:00 in UTC
    (charge,) = found("period_start,period_end,cost\n2027-01-31,2027-02-02,5\n").charges
    assert "not within one calendar month in UTC" in reason(charge, FRAME, [""])
    (tax,) = focus(usage("1", "Hours", kind="Tax")).charges
    assert reason(tax, FRAME, ["chat"]) == "a tax: the forecast has none"
    head = FOCUS_HEAD.strip() + ",x_IsForecast\n"
    (own,) = found(head + usage("1", "Hours") + ",true\n").charges
    assert "a forecast" in reason(own, FRAME, ["chat"])


def test_services_are_those_called_as_the_study_or_all_where_none_is_named() -> None:
    named = found("month,cost,service\n2027-01,5,chat\n2027-01,5,mail\n").charges
    assert services_at_first(named, ["chat"]) == ["chat"]
    assert services_at_first(named, ["other"]) == []
    assert services_at_first(found(MONTHS).charges, ["chat"]) == [""]


def test_a_months_rows_are_added_exactly_and_rounded_once() -> None:
    rows = [usage("24", "Hours").replace("10.25", "0.004") for _ in range(3)]
    (month,) = totals(focus(*rows).charges, FRAME)
    assert (month.cost, month.cost_usd, month.accelerator_hours) == (D("0.012"), D("0.01"), 24 * 3 * 8)
    assert month.notes == ["rows from 2027-01-05T00:00:00Z to 2027-01-06T00:00:00Z only: the month may not be complete"]
    assert month.from_json(month.as_json()) == month


def test_hours_of_machines_of_several_sizes_are_not_known_and_used_ones_of_some_rows_neither() -> None:
    split = Frame("d1", ("2027-01",), {"prefill": D(8), "decode": D(4), "": None})
    (month,) = totals(found("month,cost,machine_hours,pool\n2027-01,5,10,\n").charges, split)
    assert month.accelerator_hours is None
    assert "not known" in month.notes[0]
    (month,) = totals(found("month,cost,machine_hours,pool\n2027-01,5,10,decode\n").charges, split)
    assert month.accelerator_hours == 40
    (month,) = totals(found("month,cost,gpu_hours,used_gpu_hours\n2027-01,5,10,4\n2027-01,5,10,\n").charges, split)
    assert (month.accelerator_hours, month.used_accelerator_hours) == (20, None)


def test_tokens_of_no_said_kind_are_their_sum() -> None:
    (month,) = totals(found("month,cost,tokens\n2027-01,5,1000\n").charges, FRAME)
    assert (month.served.tokens, month.served.all_tokens) == (None, 1000)
