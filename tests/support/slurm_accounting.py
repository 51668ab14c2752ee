"""Slurm's accounting for a rig: a slurmdbd, and a MariaDB of its own that listens at no port.

Nothing of the system's MariaDB is touched: the data, the socket and the configuration lie in the rig's folder.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from rig_daemon import PATH, Daemon, RigError

PROGRAMS = ("mariadbd", "mariadb-install-db", "my_print_defaults", "slurmdbd", "sacct", "sacctmgr")

SLURMDBD_CONFIGURATION = """\
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_acct_db
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
"""

# The "password" is the socket of the munged that slurmdbd trusts. `associations`: an account that nobody has added is
# refused.
SLURM_CONFIGURATION = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort={port}
AccountingStoragePass={folder}/munge/socket
AccountingStorageEnforce=associations
"""


def unavailable() -> str:
    """Why no accounting can be started here; empty when it can."""
    missing = [program for program in PROGRAMS if shutil.which(program, path=PATH) is None]
    return (
        f"no {', '.join(missing)} in PATH; jobscripts/setup --for test installs slurmdbd and MariaDB" if missing else ""
    )


class Accounting:
    """The two daemons, to be started one after the other. `configuration` is what slurm.conf says of them."""

    def __init__(self, folder: Path, port: int, environment: dict[str, str]):
        self.data = folder / "mariadb"
        self.socket = folder / "mariadb.socket"
        self.configuration = SLURM_CONFIGURATION.format(port=port, folder=folder)
        self.environment = environment | {"TMPDIR": str(folder)}
        server = ["mariadbd", "--no-defaults", "--user=root", "--skip-networking", "--skip-grant-tables"]
        server += [f"--datadir={self.data}", f"--socket={self.socket}", f"--pid-file={folder / 'mariadb.pid'}"]
        server += ["--innodb-log-file-size=4M", "--innodb-flush-log-at-trx-commit=0"]
        self.mariadb = Daemon(server, folder / "mariadb.out", self.environment)
        # slurmdbd reads slurmdbd.conf beside slurm.conf, and insists on its mode. Its client library looks for
        # "localhost" at this socket.
        file = folder / "slurmdbd.conf"
        file.touch(mode=0o600)
        file.write_text(SLURMDBD_CONFIGURATION.format(port=port, folder=folder))
        to_socket = environment | {"MYSQL_UNIX_PORT": str(self.socket)}
        self.slurmdbd = Daemon(["slurmdbd", "-D"], folder / "slurmdbd.out", to_socket)

    def install(self) -> None:
        """The tables that MariaDB itself needs."""
        command = ["mariadb-install-db", "--no-defaults", "--user=root", "--skip-test-db", f"--datadir={self.data}"]
        command.append("--auth-root-authentication-method=normal")
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            raise RigError(f"mariadb-install-db: {done.stdout}\n{done.stderr}")

    def add(self, run: Callable[..., subprocess.CompletedProcess[str]], account: str) -> None:
        """The cluster, an account, and ourselves as its user."""
        mine = ["user", pwd.getpwuid(os.geteuid()).pw_name, f"account={account}"]
        for what in (["cluster", "rig"], ["account", account, "cluster=rig"], mine):
            done = run(["sacctmgr", "-i", "add", *what])
            if done.returncode and "already" not in done.stdout + done.stderr:
                raise RigError(f"sacctmgr add {what}: {done.stdout}\n{done.stderr}")
