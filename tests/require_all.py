"""With REQUIRE_ALL=1, as in CI, what would be skipped fails: CI cannot pass by testing nothing."""

import os
from collections.abc import Generator
from typing import TypeVar

import pytest

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)
Reporting = Generator[None, Report, Report]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Reporting[pytest.TestReport]:
    return _refuse_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Reporting[pytest.CollectReport]:
    return _refuse_skip((yield))


def _refuse_skip(report: Report) -> Report:
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("REQUIRE_ALL") == "1":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"REQUIRE_ALL=1, and this was skipped: {reason}"
    return report
