from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from planner.lazy import views_of

view = views_of("planner.accounts.views")

app_name = "accounts"
urlpatterns = [
    path("sign-in/", LoginView.as_view(template_name="accounts/sign_in.html"), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("tokens/", view("token_list"), name="tokens"),
    path("tokens/<int:pk>/revoke", view("revoke"), name="revoke_token"),
]
