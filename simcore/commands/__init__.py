"""The commands of ``python -m simcore``, one file each: ``add`` declares it, its function runs it and returns nothing.

Bad input is a SpecError or a TraceError whose text is the one line that the user reads.
"""
