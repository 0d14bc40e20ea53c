"""Who may see a question."""

from dataclasses import dataclass

from planner.accounts.owned import Visitor
from planner.scenarios.models import Scenario
from planner.sharing.models import ShareLink


@dataclass(frozen=True)
class SeenBy:
    """The team that owns it, and whoever has one of its links."""

    scenario_id: int
    team: str
    links: int
    revoked: int

    def __str__(self) -> str:
        return f"Visible to team {self.team}; {_links(self.links, self.revoked)}"


def seen_by(user: Visitor, scenario: Scenario) -> SeenBy:
    links = list(ShareLink.objects.visible_to(user).filter(study__revision__scenario=scenario))
    return SeenBy(scenario.pk, scenario.team.name, len(links), sum(link.revoked_at is not None for link in links))


def _links(links: int, revoked: int) -> str:
    """``no links``, ``1 link``, ``2 links (1 revoked)``."""
    if not links:
        return "no links"
    gone = f" ({revoked} revoked)" if revoked else ""
    return f"{links} link{'' if links == 1 else 's'}{gone}"
