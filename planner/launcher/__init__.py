"""`make run`: one parent process for the web server and the worker, and everything before they can start."""
