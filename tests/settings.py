"""The planner's settings with a data folder that the test run throws away."""

import atexit
import os
import shutil
import tempfile

_VAR = tempfile.mkdtemp(prefix="phaseplan-tests-")
atexit.register(shutil.rmtree, _VAR, ignore_errors=True)
os.environ.update(PHASEPLAN_VAR=_VAR, PHASEPLAN_LOCAL="0", PHASEPLAN_SSL_REDIRECT="0")
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright runs an event loop in the tests' thread

from planner.settings import *  # noqa: E402, F403, I001
from planner.settings import BASE_DIR, DATABASES, DATABASE_URL, VAR  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if not DATABASE_URL:  # a file, as in real life: threads see each other's transactions and locks
    DATABASES["default"]["TEST"] = {"NAME": VAR / "tests.sqlite3"}
# The compiled engine is keyed by its sources: one cache serves all runs.
(BASE_DIR / "var" / "engine-cache").mkdir(parents=True, exist_ok=True)
(VAR / "engine-cache").symlink_to(BASE_DIR / "var" / "engine-cache")
