"""Signing in, and passwords: Django's own views, with limits on how often they may be tried."""

import threading
from typing import Any

from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.forms import PasswordResetForm
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse_lazy

from planner.accounts import limits, signing
from planner.accounts.limits import address_of, in_words, too_many
from planner.accounts.visitor import person


class SignIn(views.LoginView):
    template_name = "accounts/sign_in.html"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """A try is counted before the password is looked at, and alike for names that are nobody's."""
        name, address = request.POST.get("username", "").strip().casefold(), address_of(request)
        alone, together = limits.sign_in(), limits.sign_in_address()
        if wait := alone.take(name, address) or together.take(address):
            said = f"Too many failed sign-ins under this name, or from this address. Try again in {in_words(wait)}."
            return self._refused(request, said, wait)
        response = super().post(request, *args, **kwargs)
        if request.user.is_authenticated and response.status_code in (301, 302):
            alone.forget(name, address)
            together.give_back(address)
        elif alone.is_spent(name, address):
            signing.locked_out(name)
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        with transaction.atomic():
            response = super().form_valid(form)
            signing.signed_in(form.get_user())
        return response

    def _refused(self, request: HttpRequest, said: str, wait: int) -> HttpResponse:
        form = self.get_form_class()(request)
        return too_many(self.render_to_response(self.get_context_data(form=form, refusal=said, may_reset=True)), wait)


class QuietResetForm(PasswordResetForm):
    """Takes as long for a mailbox that nobody has as for somebody's: the mail goes out beside the answer."""

    def send_mail(self, *args: Any, **options: Any) -> None:
        send = super().send_mail  # which logs what the mail server refuses
        in_background(lambda: send(*args, **options))


def in_background(work: Any) -> None:
    threading.Thread(target=work, name="mail").start()


class ResetAsked(views.PasswordResetView):
    """What it says is the same whether anybody has that address or not."""

    form_class = QuietResetForm
    template_name = "accounts/reset_asked.html"
    email_template_name = "accounts/reset_mail.txt"
    subject_template_name = "accounts/reset_subject.txt"
    success_url = reverse_lazy("accounts:reset_sent")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if wait := limits.RESET_ADDRESS.take(address_of(request)):
            said = f"Too many requests from this address. Try again in {in_words(wait)}."
            form = self.get_form_class()()
            return too_many(self.render_to_response(self.get_context_data(form=form, refusal=said)), wait)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        if limits.RESET_MAIL.take(form.cleaned_data["email"].casefold()):
            return super(views.PasswordResetView, self).form_valid(form)  # as if it were sent
        return super().form_valid(form)


class ResetSent(views.PasswordResetDoneView):
    template_name = "accounts/reset_sent.html"


class Reset(views.PasswordResetConfirmView):
    template_name = "accounts/reset.html"
    success_url = reverse_lazy("accounts:sign_in")

    def form_valid(self, form: Any) -> HttpResponse:
        with transaction.atomic():
            response = super().form_valid(form)
            signing.password_set(form.user, "set a password by a link")
        limits.sign_in().forget(form.user.get_username().casefold(), address_of(self.request))
        messages.success(self.request, "Your password is set. Sign in with it.")
        return response


class PasswordChange(views.PasswordChangeView):
    template_name = "accounts/password.html"
    success_url = reverse_lazy("accounts:account")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not person(request).has_usable_password():
            raise Http404("The local user has no password.")
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, "Your password is changed. Other browsers are signed out.")
        with transaction.atomic():
            response = super().form_valid(form)
            signing.password_set(form.user, "changed the password")
        return response
