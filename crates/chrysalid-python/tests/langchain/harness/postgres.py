"""A PostgreSQL server of the test session's own, on a socket in a folder of its own."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

SECONDS = 60


def programs() -> Path | None:
    """The folder with `initdb` and `postgres`: of the package pgserver, of Debian, or on the PATH."""
    with contextlib.suppress(ImportError):
        import importlib.util

        found = importlib.util.find_spec("pgserver")
        if found is not None and found.submodule_search_locations:
            return Path(found.submodule_search_locations[0]) / "pginstall" / "bin"
    installed = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if installed:
        return Path(installed[-1])
    on_path = shutil.which("postgres")
    return Path(on_path).parent if on_path else None


@contextlib.contextmanager
def server() -> Iterator[str]:
    """Runs a server and gives its URL; stops it and removes its folder."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    process = None
    try:
        owner = _owner(folder)
        bin_folder = programs()
        assert bin_folder is not None, "no PostgreSQL found"
        if owner is not None and bin_folder.parent.name == "pginstall":
            bin_folder = _within_reach(bin_folder, folder)
        data = folder / "data"
        subprocess.run(
            [bin_folder / "initdb", "-D", data, "--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8"],
            check=True, capture_output=True, user=owner, cwd=folder,
        )  # fmt: skip
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [bin_folder / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"],
                stdout=log, stderr=log, user=owner, cwd=folder, preexec_fn=_end_with_parent,  # noqa: PLW1509 - nothing else runs here
            )  # fmt: skip
        url = f"postgresql://postgres@/postgres?host={folder}"
        _wait(url, process, folder / "log")
        yield url
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)
            process.wait(SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


def _end_with_parent() -> None:
    """A test session that is killed leaves no server behind, on Linux."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGINT)


def _within_reach(bin_folder: Path, folder: Path) -> Path:
    """A copy of the package's programs and libraries: `nobody` need not be able to reach the packages of root."""
    packages = bin_folder.parents[2]
    for part in ("pgserver/pginstall", "pgserver.libs"):
        shutil.copytree(packages / part, folder / "packages" / part)
    return folder / "packages" / "pgserver" / "pginstall" / "bin"


def _owner(folder: Path) -> str | None:
    """PostgreSQL refuses to run as root: then it runs as `nobody`."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return "nobody"


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    until = time.monotonic() + SECONDS
    while True:
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"PostgreSQL did not start:\n{log.read_text()}") from None
            time.sleep(0.05)
