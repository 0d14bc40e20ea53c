from django.contrib.auth.views import LogoutView
from django.urls import path

from planner.lazy import views_of

view = views_of("planner.accounts.views")
signing = views_of("planner.accounts.sign_in_views")
teams = views_of("planner.accounts.team_views")

app_name = "accounts"
urlpatterns = [
    path("", teams("account"), name="account"),
    path("sign-in/", signing("SignIn"), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("password/", signing("PasswordChange"), name="password"),
    path("reset/", signing("ResetAsked"), name="reset_asked"),
    path("reset/sent/", signing("ResetSent"), name="reset_sent"),
    path("reset/<str:uidb64>/<str:token>/", signing("Reset"), name="reset"),
    path("tokens/", view("token_list"), name="tokens"),
    path("tokens/<int:pk>/revoke", view("revoke"), name="revoke_token"),
    path("teams/", teams("team_list"), name="teams"),
    path("teams/<int:team_id>/", teams("team"), name="team"),
    path("teams/<int:team_id>/work-for", teams("work_for"), name="work_for"),
    path("teams/<int:team_id>/invitations", teams("invite"), name="invite"),
    path(
        "teams/<int:team_id>/invitations/<int:invitation_id>/revoke",
        teams("revoke_invitation"),
        name="revoke_invitation",
    ),
    path("teams/<int:team_id>/members", teams("add"), name="add_member"),
    path("teams/<int:team_id>/members/<int:user_id>/role", teams("change_role"), name="change_role"),
    path("teams/<int:team_id>/members/<int:user_id>/remove", teams("remove"), name="remove_member"),
    path("invitations/<str:token>/", teams("join"), name="join"),
]
