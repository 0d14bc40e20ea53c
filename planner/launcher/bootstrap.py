"""Makes .venv and fills it from the locks, then becomes the program asked for.

Runs on whatever Python the machine has, without packages, so its syntax is old: it must be able to say that a Python is
too old. `bootstrap.py run` installs the runtime lock and starts the launcher; `bootstrap.py dev` adds the tools' lock.
"""

import fcntl
import hashlib
import os
import subprocess
import sys

NEEDED = (3, 11)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")
LOCKS = {"run": ["runtime"], "dev": ["runtime", "dev"]}


def main(arguments):
    purpose = arguments[0]
    check_python(sys.version_info, sys.executable)
    with_folder_locked()
    if not usable_venv(replace="--this-python" in arguments):
        make_venv()
    elif purpose == "run":
        say("[1/5] .venv is there")
    for name in LOCKS[purpose]:
        install(name, announce=purpose == "run")
    if purpose == "run":
        os.chdir(ROOT)
        os.execv(VENV_PYTHON, [VENV_PYTHON, "-m", "planner.launcher", *arguments[1:]])  # noqa: S606


def check_python(version, executable):
    if tuple(version[:2]) < NEEDED:
        stop(
            "Phaseplan needs Python {}.{} or newer; {} is {}.{}. Name another: make run PYTHON=python3.12".format(
                NEEDED[0], NEEDED[1], executable, version[0], version[1]
            )
        )


def with_folder_locked():
    """A second make in this folder waits here while the first installs; the lock ends with this program."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        say("another make is installing here; waiting for it …")
        fcntl.flock(folder, fcntl.LOCK_EX)


def usable_venv(replace):
    """Whether .venv works with a new enough Python; with replace, with this very version."""
    program = "import sys, pip; print(*sys.version_info[:2])"
    try:
        out = subprocess.check_output([VENV_PYTHON, "-c", program], stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return False
    version = tuple(int(part) for part in out.split())
    return version >= NEEDED and (not replace or version == tuple(sys.version_info[:2]))


def make_venv():
    say("[1/5] creating .venv …")
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        stop(
            "{} has no venv module. Install it (Debian, Ubuntu: apt install python3-venv) and run make again.".format(
                sys.executable
            )
        )
    result = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", VENV], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if result.returncode:
        stop("creating .venv failed:\n" + result.stdout.decode(errors="replace"))


def install(name, announce):
    """Installs a lock with its hashes checked, unless the stamp says that it already is."""
    lock = os.path.join(ROOT, "requirements", name + ".txt")
    stamp = os.path.join(VENV, "installed-" + name)
    with open(lock, "rb") as file:
        content = file.read()
    digest = hashlib.sha256(content).hexdigest()
    if os.path.exists(stamp) and read(stamp) == digest:
        if announce:
            say("[2/5] packages are installed")
        return
    count = content.count(b"==")
    say("[2/5] installing up to {} {} packages (the first time takes about a minute) …".format(count, name))
    run_pip(lock)
    with open(stamp, "w") as file:
        file.write(digest)


def run_pip(lock):
    command = [VENV_PYTHON, "-m", "pip", "install", "--require-hashes", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "--no-input", "-r", lock]
    tail = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as pip:
        for raw in pip.stdout:
            line = raw.decode(errors="replace").rstrip()
            tail = [*tail, line][-20:]
            if line.startswith(("Collecting ", "Installing collected")):
                say("      " + line.split(" (from ")[0].split(":")[0])
    if pip.returncode:
        stop("installing failed; pip said:\n" + "\n".join(tail))


def read(path):
    with open(path) as file:
        return file.read()


def say(text):
    print(text, flush=True)


def stop(text):
    print("phaseplan: " + text, file=sys.stderr)
    sys.exit(1)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        stop("stopped.")
