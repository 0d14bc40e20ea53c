"""What REST v1 tells of a study, as JSON Schema."""

from __future__ import annotations

from planner.api.queries import Query, words_of
from planner.api.shapes import (
    Shape,
    address,
    asked,
    flag,
    many,
    maybe,
    named,
    number,
    one_of,
    text,
    time,
    told,
    whole,
    with_more,
)  # fmt: skip
from planner.api.shapes_of import told_of
from planner.scenarios.input_shapes import inputs_shape
from planner.studies.leases import State
from planner.studies.moves import NAMES, PRICE
from simcore.rows import DesignRow

STATES = [state.value for state in State]
STATE = one_of(*STATES)
DESIGN = named("Design", told_of(DesignRow, "A row of designs.csv."))
LINE = told("A line of the answer.", key=text("A to E, or `outside`."), text=text(), detail=text())
WHAT_IF = told(
    "What the address supposes.",
    query={"type": "object", "additionalProperties": text()},
    supposed=many(text()),
    outcome=text(),
    to_simulate=many(text(), "What of it must be simulated before more than capacities is known."),
)
SHORT_PROGRESS = told("", tried=whole(), total=whole())
PROGRESS = with_more(SHORT_PROGRESS, failed=whole(), phase=text(), damaged=whole())
LISTED = told(
    "",
    id=whole(),
    name=text(),
    scenario=whole(),
    revision=whole(),
    state=STATE,
    partial=flag("True unless it is done."),
    created_at=time(),
    updated_at=time("Of its state or what it has found."),
    progress=SHORT_PROGRESS,
    url=address(),
)
SPENT = told(
    "", simulations=whole(), requests_simulated=whole(), events=whole(), events_a_capacity=maybe(number())
)  # fmt: skip
STUDY = told(
    "",
    id=whole(),
    name=text(),
    scenario=whole(),
    revision=whole(),
    state=STATE,
    partial=flag(),
    error=text("Why it failed, else empty."),
    created_at=time(),
    finished_at=maybe(time()),
    progress=PROGRESS,
    answer=many(LINE),
    spent=SPENT,
    url=address(),
)
STUDY["properties"]["what_if"] = WHAT_IF
STUDY = named("Study", STUDY)
OF_STUDY: dict[str, Shape] = {"study": whole(), "state": STATE, "partial": flag()}
DESIGNS = named("Designs", told(
    "", **OF_STUDY, count=whole(), next=maybe(address()), previous=maybe(address()), results=many(DESIGN)
))  # fmt: skip
ANSWER = told(
    "The answer's lines, and the row of the design that they name.",
    **OF_STUDY,
    lines=many(LINE),
    design=maybe(DESIGN),
    closest=many(DESIGN, "Where nothing meets the question: the designs that miss it least."),
)
ANSWER["properties"]["what_if"] = WHAT_IF
ANSWER = named("Answer", ANSWER)
FRONTIER = told(
    "Designs that no other beats in requests/s for its dollars (`cost`) or watts (`power`), the least first.",
    **OF_STUDY,
    cost=many(DESIGN),
    power=many(DESIGN),
)
NEW = asked(
    "A revision of a question that is there, or a new question's inputs.",
    scenario=whole("The question.", minimum=1),
    revision=whole("One of its revisions; left out: the latest.", minimum=1),
    inputs=inputs_shape(),
    name=text("Of a new question.", maxLength=200),
)
MOVES: tuple[Query, ...] = (
    *(words_of(name, "Supposed in place of what was asked.") for name in NAMES),
    words_of(PRICE, "Supposed $ an hour of a machine, by its id.", begins=True),
)
