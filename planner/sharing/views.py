"""What somebody who is signed in may do with a link that was given to them: ask its question in a team of their own."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from planner.accounts.teams import working_team
from planner.accounts.visitor import person
from planner.scenarios.errors import FieldErrors
from planner.scenarios.labels import label_of
from planner.sharing import cloning, tokens
from planner.studies import asked


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def clone(request: HttpRequest, token: str) -> HttpResponse:
    link = tokens.find(token)
    if link is None or not link.may_clone:
        raise Http404("There is no such link, or its question may not be cloned.")
    user, problems = person(request), []
    if request.method == "POST":
        try:
            study = cloning.clone_shared(user, link.shown)
        except FieldErrors as error:
            problems = [f"{label_of(name)}: {message}" for name, message in error.fields.items()]
        else:
            return redirect("studies:result", study.pk)
    context = {
        "study": link.shown,
        "asked": asked.sentence(link.shown),
        "team": working_team(user),
        "problems": problems,
        "link": f"/shared/{token}/",
    }
    return render(request, "sharing/clone.html", context, status=422 if problems else 200)
