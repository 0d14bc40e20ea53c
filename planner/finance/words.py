"""What people read for the names of lines."""

CATEGORY_NAMES = {
    "on_demand": "Machines by the hour",
    "reserved": "Reservations",
    "capital": "Bought machines",
    "residual": "Residual value",
    "fabric": "Fabric",
    "support": "Support",
    "power": "Power",
    "cooling": "Cooling",
    "colocation": "Colocation",
    "licence": "Licences",
    "staff": "Staff",
}
VIEW_NAMES = {
    "book": "Book: what is bought spread evenly over its life",
    "economic": "Economic: as an annuity at the discount rate",
    "cash": "Cash: what is paid, when",
}
LOAD_NAMES = {
    "saturation": "At saturation, whatever the latency",
    "slo_capacity": "At capacity under the SLO",
    "duty_cycle": "As used: the month’s mean rate",
}
KIND_NAMES = {"input": "Input", "cached_input": "Cached input", "output": "Output"}
CAUSE_NAMES = {
    "volume": "Volume",
    "token_mix": "Token mix",
    "efficiency": "Efficiency",
    "use": "Use",
    "price": "Price",
}
CAUSE_HELP = {
    "volume": "more or fewer tokens than forecast",
    "token_mix": "tokens that take more or less accelerator time than the forecast's mix",
    "efficiency": "accelerator time used for the same work",
    "use": "hours paid for each hour used: idle machines",
    "price": "what a paid accelerator-hour costs",
}
EFFECT_NAMES = {
    "months": "Months looked at",
    "growth": "Growth",
    "duty cycle": "Mean rate",
    "machines": "Machines offered",
    "prices": "Prices",
    "tariff": "Tariff",
    "limits": "Limits",
    "goal": "Goal",
    "rate": "Rate",
    "simulated anew": "Simulated anew",
    "physics": "Worked out anew",
    "definitions": "Definitions",
    "question": "The question",
    "terms": "Terms",
    "bought machines": "Bought machines",
    "colocation": "Colocation",
    "overheads": "Licences and staff",
    "discount rate": "Discount rate",
}
"""Of what changed since an approval; other kinds are said as they are."""
