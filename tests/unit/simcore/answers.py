"""Answers of small questions by a stand-in for the engine, and their lines."""

from simcore.answer.result import study_result
from simcore.catalogue import price_book
from simcore.explain import answer
from tests.unit.simcore.questions import asked, explored

BOTH_ON_H100 = ["sarathi:dgx-h100", "splitwise:dgx-h100+dgx-h100"]
EACH = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}


def answered(each=EACH, **changes):
    context = asked(**changes)
    designs, done = explored(context, each)
    return study_result(context.spec, designs, done, price_book("splitwise-2023"))


def texts(result, progress=None):
    return {line.key: line for line in answer(result, progress)}
