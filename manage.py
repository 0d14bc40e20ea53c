#!/usr/bin/env python
"""Django's command line for Phaseplan."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
    from django.core.management import execute_from_command_line

    from planner.env import EnvError

    try:
        execute_from_command_line(sys.argv)
    except EnvError as error:
        sys.exit(f"phaseplan: {error}")
