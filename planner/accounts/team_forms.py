"""What is typed about people and teams."""

from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm

from planner.accounts.members import known_to
from planner.accounts.models import Role, Team, User
from planner.plain_text import NameField

NO_NAME = {"required": "Found none, expected a name."}


class TeamForm(forms.Form):
    name = NameField(max_length=100, label="Name", error_messages=NO_NAME)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Team.objects.filter(name=name).exists():
            raise forms.ValidationError("A team cannot have this name; expected another.")
        return name


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices, label="Role")


class InviteForm(RoleForm):
    label = NameField(max_length=100, label="For whom", required=False)


class AddForm(RoleForm):
    user = forms.ModelChoiceField(User.objects.none(), label="Person")

    def __init__(self, by: User, team: Team, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.known = known_to(by, team)
        known = User.objects.filter(pk__in=[user.pk for user in self.known]).order_by("username")
        self.fields["user"].queryset = known  # type: ignore[attr-defined]


class JoinForm(UserCreationForm):
    """An account, made by whoever has an invitation."""

    class Meta:
        model = User
        fields = ("username", "email")

    error_messages = {**UserCreationForm.error_messages, "unique": "This name cannot be used; expected another."}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["username"].error_messages["unique"] = "This name cannot be used; expected another."
        self.fields["email"].help_text = "Where a link to reset your password is mailed to."

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError("This name cannot be used; expected another.")
        return name


class AccountForm(forms.ModelForm):
    first_name = NameField(max_length=150, label="Shown as", required=False)

    class Meta:
        model = User
        fields = ("first_name", "email")
