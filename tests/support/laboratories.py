"""What the tests of laboratories have in common: whether one can be set up here, and what one leaves."""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import shlex
import shutil
import subprocess
import time
import uuid

PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"


@functools.cache
def unavailable() -> str:
    """Why no laboratory can be set up here; empty when one can."""
    if os.geteuid() != 0:
        return "hosts on one machine take root"
    missing = [program for program in ("ip", "tc", "unshare") if shutil.which(program, path=PATH) is None]
    if missing:
        return f"no {', '.join(missing)} in PATH; jobscripts/setup --for test installs iproute2"
    make = (
        "mount -t sysfs sysfs /sys && ip link add name br0 type bridge && ip link set lo up && "
        "tc qdisc add dev lo root tbf rate 1mbit burst 3000 limit 9000"
    )
    command = ["unshare", "-m", "-u", "-i", "-n", "-p", "-f", "sh", "-c", f"PATH={shlex.quote(PATH)}; {make}"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return f"this machine refuses namespaces or links: {tried.stderr.strip()}" if tried.returncode else ""


def links_and_mounts() -> set[str]:
    """Names of devices and lines of mounts in the namespaces of the test itself."""
    links = {path.name for path in pathlib.Path("/sys/class/net").iterdir()}
    return links.union(pathlib.Path("/proc/self/mounts").read_text().splitlines())


def has_ended(process: int | str) -> bool:
    """Also where its parent has yet to ask how: that of an orphan is the machine's first process."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in "ZX"


class Traces:
    """What a laboratory started with `environment` leaves. Its processes have the environment, so they are found."""

    def __init__(self):
        self.mark = f"FOURSCORE_TEST_LABORATORY={uuid.uuid4()}"
        self.environment = dict([self.mark.split("=")])
        self.before = links_and_mounts()
        self.namespaces: set[str] = set()

    def processes(self) -> list[int]:
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if self.mark.encode() in entry.read_bytes().split(b"\0"):
                    found.append(int(entry.parent.name))
            except OSError:  # it has ended
                continue
        return found

    @staticmethod
    def namespaces_of(process: int | str) -> set[str]:
        found = set()
        for kind in ("net", "mnt", "pid", "uts", "ipc"):
            try:
                found.add(str(pathlib.Path(f"/proc/{process}/ns/{kind}").readlink()))
            except OSError:
                continue
        return found

    def look(self) -> int:
        """Remembers the namespaces that there are now. Returns how many are not the test's own."""
        for process in self.processes():
            self.namespaces |= self.namespaces_of(process)
        self.namespaces -= self.namespaces_of("self")
        return len(self.namespaces)

    def left(self) -> str:
        """What is still there; empty: nothing."""
        if processes := self.processes():
            names = []
            for process in processes:
                with contextlib.suppress(OSError):  # it has ended
                    names.append(pathlib.Path(f"/proc/{process}/cmdline").read_bytes())
            return f"processes {processes}: {names}"
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            if has_ended(entry.name):
                continue
            if shared := self.namespaces & self.namespaces_of(entry.name):
                return f"process {entry.name} is in {shared}"
        new = links_and_mounts() - self.before  # what is gone may have been another test's
        return f"links or mounts: {sorted(new)}" if new else ""

    def wait_until_gone(self, patience_s: float = 10) -> None:
        deadline = time.monotonic() + patience_s
        while left := self.left():
            assert time.monotonic() < deadline, f"after {patience_s} s there are still {left}"
            time.sleep(0.02)
