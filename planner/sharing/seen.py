"""Who may see a question."""

from dataclasses import dataclass

from planner.accounts.owned import Visitor
from planner.scenarios.models import Grant, Scenario
from planner.sharing.models import ShareLink


@dataclass(frozen=True)
class SeenBy:
    """The team that owns it, and whoever has one of its links."""

    scenario_id: int
    team: str
    links: int
    revoked: int
    expired: int = 0
    people: int = 0

    def __str__(self) -> str:
        people = f" and {self.people} {'person' if self.people == 1 else 'people'} beside it" if self.people else ""
        return f"Visible to team {self.team}{people}; {_links(self.links, self.revoked, self.expired)}"


def seen_by(user: Visitor, scenario: Scenario) -> SeenBy:
    links = list(ShareLink.objects.visible_to(user).filter(study__revision__scenario=scenario))
    people = Grant.objects.visible_to(user).filter(scenario=scenario).count()
    states = [link.state for link in links]
    return SeenBy(scenario.pk, scenario.team.name, len(links), states.count("revoked"), states.count("expired"), people)


def _links(links: int, revoked: int, expired: int) -> str:
    """``no links``, ``1 link``, ``2 links (1 revoked)``."""
    if not links:
        return "no links"
    gone = [f"{count} {word}" for count, word in ((revoked, "revoked"), (expired, "expired")) if count]
    said = f" ({', '.join(gone)})" if gone else ""
    return f"{links} link{'' if links == 1 else 's'}{said}"
