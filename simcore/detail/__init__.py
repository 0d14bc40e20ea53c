"""One run of a design at a rate, in detail: how its times are spread, a minute of it as a timeline, its stalls.

Plain JSON, for whoever draws it. It reads finished runs (``engine``) and is nothing that a search asks for.
"""

from simcore.detail.run_detail import run_detail

__all__ = ["run_detail"]
