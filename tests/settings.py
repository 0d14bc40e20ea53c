"""The planner's settings with a data folder that the test run throws away."""

import atexit
import os
import shutil
import tempfile

_VAR = tempfile.mkdtemp(prefix="phaseplan-tests-")
atexit.register(shutil.rmtree, _VAR, ignore_errors=True)
os.environ.update(PHASEPLAN_VAR=_VAR, PHASEPLAN_LOCAL="0", PHASEPLAN_SSL_REDIRECT="0")

from planner.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
