"""The pages of one's account, one's teams and their members, and of an invitation."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from planner.accounts import invitations, limits, members, signing
from planner.accounts.models import Invitation, Membership, Role, Team, User
from planner.accounts.owned import EDITING_ROLES
from planner.accounts.team_forms import AccountForm, AddForm, InviteForm, JoinForm, RoleForm, TeamForm
from planner.accounts.teams import working_team
from planner.accounts.visitor import person


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    user = person(request)
    form = AccountForm(request.POST if request.method == "POST" else None, instance=user)
    if form.is_valid():
        signing.change(user, form)
        messages.success(request, "Saved.")
        return redirect("accounts:account")
    user.refresh_from_db()
    return render(request, "accounts/account.html", {"form": form}, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def team_list(request: HttpRequest) -> HttpResponse:
    """POST makes one."""
    user = person(request)
    form = TeamForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        team = members.make_team(user, form.cleaned_data["name"])
        messages.success(request, f"Team {team.name} is made, and you work for it now.")
        return redirect("accounts:team", team.pk)
    mine = Membership.objects.filter(user=user).select_related("team").order_by("team__name")
    context = {"form": form, "mine": mine, "working": working_team(user), "editing": EDITING_ROLES}
    return render(request, "accounts/teams.html", context, status=422 if form.errors else 200)


@require_POST
def work_for(request: HttpRequest, team_id: int) -> HttpResponse:
    team = _team(request, team_id)
    members.work_for(person(request), team)
    messages.success(request, f"What you save now is team {team.name}’s.")
    return redirect("accounts:teams")


@never_cache
@require_http_methods(["GET", "HEAD"])
def team(request: HttpRequest, team_id: int) -> HttpResponse:
    return _page(request, _team(request, team_id))


@never_cache
@require_POST
def invite(request: HttpRequest, team_id: int) -> HttpResponse:
    """This answer is the only one that shows the link."""
    found = _owned(request, team_id)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, found, invite=form)
    made, token = invitations.invite(found, person(request), form.cleaned_data["role"], form.cleaned_data["label"])
    address = request.build_absolute_uri(reverse("accounts:join", args=[token]))
    return _page(request, found, made=made, address=address)


@require_POST
def revoke_invitation(request: HttpRequest, team_id: int, invitation_id: int) -> HttpResponse:
    found = _owned(request, team_id)
    made = get_object_or_404(Invitation.objects.visible_to(request.user).filter(team=found), pk=invitation_id)
    invitations.revoke(made, person(request))
    messages.success(request, f"{made.title} opens nothing more.")
    return redirect("accounts:team", team_id)


@require_POST
def add(request: HttpRequest, team_id: int) -> HttpResponse:
    found, user = _owned(request, team_id), person(request)
    form = AddForm(user, found, request.POST)
    if not form.is_valid():
        return _page(request, found, add=form)
    added = members.add(found, user, form.cleaned_data["user"], form.cleaned_data["role"])
    messages.success(request, f"{added.user} is {added.get_role_display().lower()} of team {found.name}.")
    return redirect("accounts:team", team_id)


@require_POST
def change_role(request: HttpRequest, team_id: int, user_id: int) -> HttpResponse:
    member, form = _member(_owned(request, team_id), user_id), RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Found no such role, expected owner, editor or viewer.")
        return redirect("accounts:team", team_id)
    try:
        members.change_role(member, person(request), form.cleaned_data["role"])
    except members.LastOwnerError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{member.user} is {Role(form.cleaned_data['role']).label.lower()} now.")
    return redirect("accounts:team", team_id)


@require_POST
def remove(request: HttpRequest, team_id: int, user_id: int) -> HttpResponse:
    """An owner removes anybody; anybody leaves."""
    user, found = person(request), _team(request, team_id)
    if user.pk != user_id:
        members.require_owner(user, found)
    member = _member(found, user_id)
    try:
        members.remove(member, user)
    except members.LastOwnerError as error:
        messages.error(request, str(error))
        return redirect("accounts:team", team_id)
    left = user.pk == user_id
    messages.success(request, f"You have left team {found.name}." if left else f"{member.user} is removed.")
    return redirect("accounts:teams") if left else redirect("accounts:team", team_id)


@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """An invitation opened: by somebody signed in, who joins, or by somebody who makes an account by it."""
    invitation = invitations.find(token)
    if invitation is None:
        raise Http404("There is no such invitation: it was used or revoked, or is older than a week.")
    user = request.user if isinstance(request.user, User) else None
    form = None if user else JoinForm(request.POST if request.method == "POST" else None)
    if form is not None and request.method == "POST":
        if wait := limits.JOIN_ADDRESS.take(limits.address_of(request)):
            form.add_error(None, f"Too many tries from this address. Try again in {limits.in_words(wait)}.")
        if form.is_valid():
            user = signing.join(form)
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    if request.method == "POST" and user is not None:
        if not invitations.use(invitation, user):
            raise Http404("The invitation was used meanwhile.")
        messages.success(request, f"You are in team {invitation.team.name}.")
        return redirect("scenarios:question")
    context = {"invitation": invitation, "form": form, "here": request.path}
    status = 422 if form is not None and form.errors else 200
    return render(request, "accounts/join.html", context, status=status)


def _team(request: HttpRequest, team_id: int) -> Team:
    """One of the visitor's teams; 404 otherwise."""
    return get_object_or_404(Team.objects.filter(membership__user=person(request)), pk=team_id)


def _owned(request: HttpRequest, team_id: int) -> Team:
    found = _team(request, team_id)
    members.require_owner(person(request), found)
    return found


def _member(team: Team, user_id: int) -> Membership:
    return get_object_or_404(Membership.objects.select_related("team", "user"), team=team, user=user_id)


def _page(
    request: HttpRequest,
    found: Team,
    *,
    invite: InviteForm | None = None,
    add: AddForm | None = None,
    made: Invitation | None = None,
    address: str = "",
) -> HttpResponse:
    user = person(request)
    listed = Membership.objects.filter(team=found).select_related("user").order_by("user__username")
    open_ones = Invitation.objects.visible_to(user).filter(team=found).select_related("created_by", "used_by")
    context = {
        "team": found,
        "members": listed,
        "me": next(member for member in listed if member.user_id == user.pk),
        "roles": Role.choices,
        "invite": invite or InviteForm(initial={"role": Role.EDITOR}),
        "add": add or AddForm(user, found),
        "made": made,
        "address": address,
        "invitations": [(row, invitations.state_of(row)) for row in open_ones],
    }
    wrong = any(form is not None and form.errors for form in (invite, add))
    return render(request, "accounts/team.html", context, status=422 if wrong else 201 if made else 200)
