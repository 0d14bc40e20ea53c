"""What is kept of changes to who may do what. Entries are appended; nothing here changes or removes one."""

from planner.accounts.models import AuditEntry, Team, User
from planner.accounts.owned import token_of

LENGTH = 300


def record(team: Team, by: User, action: str, subject: str, before: str = "", after: str = "") -> None:
    token = token_of(by)
    AuditEntry.objects.create(
        team=team,
        created_by=by,
        by_name=str(by),
        token_key=token.key if token else "",
        action=action,
        subject=subject[:LENGTH],
        before=before[:LENGTH],
        after=after[:LENGTH],
    )
