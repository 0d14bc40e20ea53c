"""Idempotency-Key: a POST that is sent again with its key is answered again, and done once.

The key is kept for a day with a hash of the request. Sent again: the first answer, with ``Idempotency-Replayed: true``;
with another body or address: 422; while the first is under way: 409. What was refused made nothing and is not kept: it
may be corrected and sent with the same key. What is shown once is not kept: sent again it is null.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.models import ApiToken
from planner.api.models import KeptAnswer

HEADER = "Idempotency-Key"
FORM = re.compile(r"[\x21-\x7e]{1,255}")
KEPT = timedelta(hours=24)
UNDER_WAY = timedelta(minutes=10)
"""No request takes longer: one that is still under way then was lost with its server."""
KEPT_HEADERS = ("Location", "Retry-After", "ETag")
CHUNK = 1 << 20


class KeyReused(APIException):
    status_code = 422
    default_code = "idempotency_key_reused"
    default_detail = "This Idempotency-Key came with another request already; expected a new key."


class KeyUnderWay(APIException):
    status_code = 409
    default_code = "idempotency_key_under_way"
    default_detail = "The request with this Idempotency-Key is still under way; ask again."
    wait = 1  # Retry-After


def once(
    request: Request, handle: Callable[[], Response], *, at_once: bool, shown_once: Sequence[str] = ()
) -> Response:
    """The handler's answer, or the one that it gave before. ``shown_once``: its keys that are secrets."""
    key = request.headers.get(HEADER)
    if key is None:
        return handle()
    if not FORM.fullmatch(key):
        raise ValidationError({HEADER: ["Found no key, expected 1 to 255 visible ASCII characters, such as a UUID."]})
    kept, is_new = _claimed(_caller(request), key, _hash_of(request))
    if not is_new:
        return _again(kept)
    try:
        if at_once:
            with transaction.atomic():
                response = handle()
                _keep(kept, response, shown_once)
        else:
            response = handle()
            _keep(kept, response, shown_once)
    except BaseException:
        KeptAnswer.objects.filter(pk=kept.pk, status=None).delete()
        raise
    return response


def _claimed(caller: str, key: str, request_hash: str) -> tuple[KeptAnswer, bool]:
    now = timezone.now()
    KeptAnswer.objects.filter(created_at__lt=now - KEPT).delete()
    KeptAnswer.objects.filter(caller=caller, key=key, status=None, created_at__lt=now - UNDER_WAY).delete()
    try:
        with transaction.atomic():
            return KeptAnswer.objects.create(caller=caller, key=key, request_hash=request_hash), True
    except IntegrityError:
        found = KeptAnswer.objects.filter(caller=caller, key=key).first()
    if found is None:  # it was refused in between
        raise KeyUnderWay
    if found.request_hash != request_hash:
        raise KeyReused
    if found.status is None:
        raise KeyUnderWay
    return found, False


def _keep(kept: KeptAnswer, response: Response, shown_once: Sequence[str]) -> None:
    headers = {name: str(response[name]) for name in KEPT_HEADERS if response.has_header(name)}
    content = JSONRenderer().render({**response.data, **dict.fromkeys(shown_once)} if shown_once else response.data)
    KeptAnswer.objects.filter(pk=kept.pk).update(status=response.status_code, headers=headers, content=content)


def _again(kept: KeptAnswer) -> Response:
    data = json.loads(bytes(kept.content) or b"null")
    return Response(data, status=kept.status, headers={**kept.headers, "Idempotency-Replayed": "true"})


def _caller(request: Request) -> str:
    return f"token-{request.auth.pk}" if isinstance(request.auth, ApiToken) else f"user-{request.user.pk}"


def _hash_of(request: Request) -> str:
    """Of files by their content: they may be larger than memory."""
    found = hashlib.sha256(f"{request.method} {request._request.get_full_path()}\n".encode())
    data: Any = request.data  # read first: it fills the files
    files = request._request.FILES
    if not files and not hasattr(data, "lists"):
        found.update(json.dumps(data, sort_keys=True).encode())
        return found.hexdigest()
    for name, values in sorted(request._request.POST.lists()):
        found.update(json.dumps([name, values]).encode())
    for name, uploads in sorted(files.lists()):
        for upload in uploads:
            found.update(json.dumps([name, upload.name]).encode())
            for chunk in upload.chunks(CHUNK):
                found.update(chunk)
            upload.seek(0)
    return found.hexdigest()
