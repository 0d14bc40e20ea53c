from django.apps import AppConfig
from django.db.models.signals import post_migrate

from planner.accounts.append_only import after_migrate


class AccountsConfig(AppConfig):
    name = "planner.accounts"

    def ready(self) -> None:
        post_migrate.connect(after_migrate, sender=self, dispatch_uid="history is append-only")
