"""ETag and If-None-Match for whatever a program fetches: REST's answers, and the files of pages."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import patch_cache_control, patch_vary_headers

PAGES = "text/html"


class ConditionalReadMiddleware(ConditionalGetMiddleware):
    """A complete answer (200) that is no page has the hash of its content as its strong ETag; who shows that again is
    answered 304, without the content. What is still being computed (202) has none: it is to be asked for again.

    An answer is the asker's own, so that no cache between gives it to another, and none uses it unasked."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code != 200 or response.get("Content-Type", "").startswith(PAGES):
            return response
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, private=True, no_cache=True)
        patch_vary_headers(response, ("Authorization", "Cookie"))
        found: HttpResponseBase = super().process_response(request, response)
        return found
