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
POOL_NAMES = {
    "mixed": "Mixed pool",
    "prefill": "Prefill pool",
    "decode": "Decode pool",
    "facility": "Site",
    "shared": "Shared by all pools",
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
CATEGORY_HELP = {
    "on_demand": "machines that are neither bought nor reserved × hours of the month × share of the hours in which they"
    " are rented × price an hour",
    "reserved": "reserved machines × price an hour × 8,760 h × years: by month in the book view, upfront share and rest"
    " as they are paid in the cash view",
    "capital": "bought machines × price: less the residual over the months of life in the book view, at delivery in the"
    " cash view, an annuity in the economic view",
    "residual": "what bought machines are worth at the end of their life: price × residual share, received in the cash"
    " view alone; the other views have taken it off before",
    "fabric": "bought machines × ports × price a port, spread as the machines are",
    "support": "bought machines × price a year ÷ 12",
    "power": "kW drawn at the month’s mean rate × hours × the share of the machines that the site pays for × tariff",
    "cooling": "the same kWh × (PUE - 1) × tariff",
    "colocation": "provisioned kW × price of a kW and month",
    "licence": "accelerators in service × price a year ÷ 12",
    "staff": "as much a month as was entered",
}
"""Each in words as ``simcore.economics`` computes it; the line itself has the numbers."""
VIEW_HELP = {
    "book": "What is bought is spread evenly over its months of life, a reservation over its term. For a budget.",
    "economic": "What is bought costs an annuity at the discount rate, worth in service what is paid. For a decision.",
    "cash": "What leaves the bank, in the month in which it does. For liquidity, and for the net present value.",
}
LOAD_HELP = {
    "saturation": "the machines never wait for work; no latency is promised",
    "slo_capacity": "the highest rate that still meets the objective",
    "duty_cycle": "the month’s mean rate: what is sized for × the duty cycle",
}
KIND_HELP = {
    "input": "tokens of prompts that are computed",
    "cached_input": "tokens of prompts that are found in a cache",
    "output": "tokens that are generated",
}
ALLOCATION_HELP = {
    "accelerator_time": "each pool’s cost by the time that its batches spend on prompts and on decoding",
    "tokens": "every token alike",
    "price_ratio": "an output token as four input tokens, a cached one as a tenth of one",
}
