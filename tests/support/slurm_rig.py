#!/usr/bin/env python3
"""A Slurm of several nodes on one machine, of its own: it touches no configuration, key or daemon of the system's.

Starts the nodes n1 to nN, runs COMMAND (default: a shell) with SLURM_CONF set, and stops them. The exit code is the
command's.

Each node has a host name, a /tmp, a /dev/shm and processes of its own, so MPI takes the nodes for different machines.
What they share must lie elsewhere: scripts, records, and programs but for those of this tree. All that a rig started
ends with the process that started it, however that ends.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import rig_network
import slurm_accounting
from rig_daemon import DIES_WITH_US, PATH, Daemon, RigError

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "sinfo", "srun", "hostname", "setpriv", "unshare")
PRIVATE = (Path("/tmp"), Path("/dev/shm"))  # each node has its own
# What nodes see of ours all the same, wherever it lies: this tree, what was built of it, and its Python.
OURS = (Path(__file__).resolve().parents[2], Path(os.environ.get("FOURSCORE_BIN", "/")), Path(sys.prefix).resolve())
OWN_NAMESPACES = ("unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
# By default (tree) some ranks leave PMIx's fence before others have entered it, and Open MPI crashes in MPI_Init, one
# launch of thirty: seen with Slurm 22.05, PMIx 4.2 and Open MPI 4.1.
PMIX = {"SLURM_PMIX_FENCE": "ring"}


def mount_own(path: Path, ours: Sequence[Path] = OURS) -> str:
    """Shell: an empty folder in memory, in which those of ours that lie below it are seen."""
    below = sorted({folder for folder in ours if folder.is_relative_to(path)})
    kept = [folder for folder in below if not any(other in folder.parents for other in below)]
    if path in kept:
        raise RigError(f"{path} itself holds this tree, its build or its Python; expected a folder below it")
    steps = [f"exec {number}<{shlex.quote(str(folder))}" for number, folder in enumerate(kept, 3)]
    steps.append(f"mount -t tmpfs -o mode=1777 tmpfs {path}")
    for number, folder in enumerate(kept, 3):
        name = shlex.quote(str(folder))
        # The open folder, and not what its name leads to now.
        steps += [f"mkdir -p {name}", f"mount -c --bind /proc/self/fd/{number} {name}", f"exec {number}<&-"]
    return " && ".join(steps)


# The first process of a node: the node ends with it. It waits for whatever else ends there.
FIRST_PROCESS = " && ".join([mount_own(path) for path in PRIVATE] + ['hostname "$0" && { "$@" & wait $!; }'])

CONFIGURATION = """\
ClusterName=rig
SlurmctldHost={host}({address})
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
MessageTimeout=60
SlurmdTimeout=30
ReturnToService=2
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
{accounting}SchedulerType=sched/builtin
SelectType=select/linear
KillWait=2
MpiDefault=none
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/%n
SlurmdPidFile={folder}/%n.pid
SlurmdLogFile={folder}/%n.log
{settings}PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def unavailable() -> str:
    """Why no rig can be started here; empty when one can."""
    if os.geteuid() != 0:
        return "four nodes on one machine take root"
    missing = [program for program in PROGRAMS if shutil.which(program, path=PATH) is None]
    if missing:
        return f"no {', '.join(missing)} in PATH; jobscripts/setup --for test installs Slurm and MUNGE"
    command = [*OWN_NAMESPACES, "sh", "-c", FIRST_PROCESS, "n1", "true"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return f"this machine refuses namespaces: {tried.stderr.strip()}" if tried.returncode else ""


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens at, below those that the kernel gives to whoever asks for any."""
    first_given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    found = []
    for port in random.sample(range(10000, max(first_given, 20000)), 1000):
        with contextlib.closing(socket.socket()) as listener, contextlib.suppress(OSError):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("", port))
            found.append(port)
        if len(found) == number:
            return found
    raise RigError(f"no {number} free ports between 10000 and {first_given}")


class Node(Daemon):
    """A slurmd in namespaces of its own. To stop one ends all that runs there, as a loss of power does."""

    def __init__(self, name: str, port: int, cpus: int, folder: Path, environment: dict[str, str]):
        network = rig_network.of_node(int(name.removeprefix("n")))
        slurmd = ["sh", "-c", FIRST_PROCESS, name, "slurmd", "-D", "-N", name, "-f", folder / "slurm.conf"]
        super().__init__([*network.enter, *OWN_NAMESPACES, *slurmd], folder / f"{name}.out", environment)
        self.name = name
        where = f"NodeHostname=localhost NodeAddr={network.address} Port={port}"
        self.line = f"NodeName={name} {where} CPUs={cpus} State=UNKNOWN\n"

    def stop(self) -> None:
        if self.process is None:
            return
        # unshare waits for the node's first process, and that one is gone only when all others of the node are.
        pid = self.process.pid
        with contextlib.suppress(OSError):
            for first in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                os.kill(int(first), signal.SIGKILL)
                self.process.wait()
        self.process.kill()
        self.process.wait()
        self.process = None


class SlurmRig:
    """Nodes n1, n2, ... under one slurmctld, all below `folder`. For a with statement, in the main thread."""

    def __init__(
        self, folder: Path | str, nodes: int = 4, cpus: int = 2, settings: str = "", accounting: str | None = None
    ):
        """`settings` are lines of slurm.conf: partitions, or values that win over ours. `accounting` is the name of the
        one account that a slurmdbd knows; without it there is no accounting."""
        self.folder = Path(folder).resolve()
        for path in PRIVATE:
            if self.folder.is_relative_to(path):
                raise RigError(f"{self.folder} is below {path}, of which each node has its own")
        if len(f"{self.folder}/munge/socket") > 100:
            raise RigError(f"{self.folder} is too long for the path of a socket")
        (self.folder / "munge").mkdir(parents=True)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        inherited = rig_network.without_ways_of_mpirun(inherited)
        configuration = self.folder / "slurm.conf"
        self.environment = inherited | {"SLURM_CONF": str(configuration), "PATH": PATH, "TMPDIR": "/tmp"} | PMIX
        port, its_port, *ports = free_ports(2 + nodes)
        self.nodes = [Node(f"n{i}", its, cpus, self.folder, self.environment) for i, its in enumerate(ports, 1)]
        self.munged = Daemon(self._munged(), self.folder / "munged.out", self.environment)
        controller = ["slurmctld", "-D", "-f", configuration]
        self.slurmctld = Daemon(controller, self.folder / "slurmctld.out", self.environment)
        self.account = accounting
        self.accounting = slurm_accounting.Accounting(self.folder, its_port, self.environment) if accounting else None
        storage = (
            self.accounting.configuration if self.accounting else "AccountingStorageType=accounting_storage/none\n"
        )
        values = {"host": socket.gethostname(), "address": rig_network.of_controller()}
        values |= {"port": port, "folder": self.folder}
        text = CONFIGURATION.format(**values, accounting=storage, settings=settings)
        configuration.write_text(text + "".join(node.line for node in self.nodes))

    def _munged(self) -> list[object]:
        """The command of a munged with a key of its own."""
        folder = self.folder / "munge"
        key = folder / "key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))
        files = [f"--{kind}-file={folder / kind}" for kind in ("key", "pid", "seed")]
        return ["munged", "--foreground", "--force", *files, f"--socket={folder / 'socket'}"]

    def __enter__(self) -> SlurmRig:
        try:
            self.munged.start()
            self._wait(30, "munged listens", (self.folder / "munge" / "socket").exists)
            if self.accounting:
                self._start_accounting()
            self.slurmctld.start()
            for node in self.nodes:
                node.start()
            self.wait_until_idle()
        except BaseException:
            self.stop()
            raise
        return self

    def _start_accounting(self) -> None:
        self.accounting.install()
        self.accounting.mariadb.start()
        self._wait(60, "MariaDB listens", self.accounting.socket.exists)
        self.accounting.slurmdbd.start()
        self._wait(60, "slurmdbd answers", lambda: self.run(["sacctmgr", "-n", "list", "cluster"]).returncode == 0)
        self.accounting.add(self.run, self.account)

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        for daemon in reversed(self._daemons()):
            daemon.stop()

    def _daemons(self) -> list[Daemon]:
        storage = [self.accounting.mariadb, self.accounting.slurmdbd] if self.accounting else []
        return [self.munged, *storage, self.slurmctld, *self.nodes]

    def node(self, number: int) -> Node:
        """n1 is number 1."""
        return self.nodes[number - 1]

    def states(self) -> dict[str, str]:
        """What sinfo says of each node, as "idle" or "down*" (* for no answer); empty without a slurmctld."""
        lines = self.run(["sinfo", "--noheader", "--Node", "--format=%N %T"]).stdout.splitlines()
        return dict(line.split() for line in lines)

    def wait_until_idle(self, timeout: float = 60) -> None:
        """All that are not stopped."""
        names = [node.name for node in self.nodes if node.process]

        def are_idle() -> bool:
            states = self.states()
            return all(states.get(name) == "idle" for name in names)

        self._wait(timeout, f"{', '.join(names)} are idle", are_idle)

    def run(
        self, argv: Sequence[object], timeout: float = 60, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """A command of this Slurm's user. srun that takes too long ends its ranks before it ends."""
        command = [*DIES_WITH_US, *map(str, argv)]
        environment = self.environment | (env or {})
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, env=environment, **pipes) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except BaseException as error:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(10)
                process.kill()
                if isinstance(error, subprocess.TimeoutExpired):
                    error.output, error.stderr = process.communicate()
                raise
        return subprocess.CompletedProcess(argv, process.returncode, out, err)

    def srun(
        self,
        ranks: int,
        argv: Sequence[object],
        nodes: int | None = None,
        mpi: str = "pmix",
        timeout: float = 60,
        env: dict[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> subprocess.CompletedProcess[str]:
        """A program on so many ranks of so many nodes (default: all), evenly; `mpi` is pmi2 for MPICH."""
        spread = ["--nodes", nodes or len(self.nodes), "--ntasks", ranks, "--overcommit", "--kill-on-bad-exit=1"]
        return self.run(["srun", "--quiet", *spread, f"--mpi={mpi}", *options, *argv], timeout, env)

    def _wait(self, timeout: float, what: str, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + timeout
        while not holds():
            ended = [daemon.log.stem for daemon in self._daemons() if daemon.has_ended()]
            if ended or time.monotonic() > deadline:
                why = f"ended: {', '.join(ended)}" if ended else f"not within {timeout:g} s"
                raise RigError(f"never seen: {what}; {why}\n{self.logs()}")
            time.sleep(0.1)

    def logs(self, lines: int = 12) -> str:
        """The ends of all logs."""
        tails = []
        for daemon in self._daemons():
            # Before a daemon of Slurm has its log, it writes only here; later it writes here too, but for its steps.
            file = daemon.log.with_suffix(".log") if daemon.log.with_suffix(".log").exists() else daemon.log
            if file.exists() and (text := file.read_text(errors="replace").strip()):
                tails.append(f"--- {file.name}\n" + "\n".join(text.splitlines()[-lines:]))
        return "\n".join(tails)


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """One that nodes share, with a short path: sockets need that."""
    return tempfile.TemporaryDirectory(prefix="fourscore-rig.", dir="/var/tmp")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--cpus", type=int, default=2, help="that each node pretends to have")
    parser.add_argument("--folder", type=Path, help="for logs and state, to be made; default: one that is removed")
    parser.add_argument("--accounting", metavar="ACCOUNT", help="with a slurmdbd, which knows this account")
    parser.add_argument("--rate", help="of each node's link, as 100mbit: the nodes are on hosts of a laboratory")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    if reason := unavailable() or (options.accounting and slurm_accounting.unavailable()):
        print(f"slurm_rig: {reason}", file=sys.stderr)
        return 3
    command = options.command or [os.environ.get("SHELL", "sh")]
    if options.rate and not rig_network.in_laboratory():
        again = rig_network.command_in_laboratory(options.nodes, options.rate, [sys.executable, *sys.argv])
        os.execv(again[0], again)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    folder = contextlib.nullcontext(options.folder) if options.folder else temporary_folder()
    with folder as place, SlurmRig(place, options.nodes, options.cpus, accounting=options.accounting) as rig:
        print(f"slurm_rig: {options.nodes} nodes in {rig.folder}; running {shlex.join(command)}", file=sys.stderr)
        return subprocess.run([*DIES_WITH_US, *command], env=rig.environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
