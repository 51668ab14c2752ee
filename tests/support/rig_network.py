"""Which network the nodes of a rig (slurm_rig.py) are on: that of this machine, or the hosts of a laboratory."""

from __future__ import annotations

import os
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path

from rig_daemon import PATH, RigError

LABORATORY = "FOURSCORE_LABORATORY"  # what `fourscore laboratory` tells its command
# Ways by which mpirun enters the hosts of a laboratory. In a job of Slurm it takes Slurm's.
OF_MPIRUN = ("OMPI_MCA_plm", "HYDRA_LAUNCHER")


@dataclass(frozen=True)
class NodeNetwork:
    address: str
    enter: tuple[str, ...]  # what a node's command is put behind


def in_laboratory() -> bool:
    return LABORATORY in os.environ


def of_node(number: int) -> NodeNetwork:
    """n1 is number 1; in a laboratory it is on the network of h1."""
    if not in_laboratory():
        return NodeNetwork("127.0.0.1", ())
    host = Path(os.environ[LABORATORY]) / "hosts" / f"h{number}"
    if not host.is_symlink():
        raise RigError(f"this laboratory has no host h{number} for node n{number}")
    enter = ("nsenter", f"--net={host.readlink()}/ns/net")
    return NodeNetwork(socket.gethostbyname(f"h{number}"), enter)


def of_controller() -> str:
    return socket.gethostbyname(socket.gethostname()) if in_laboratory() else "127.0.0.1"


def without_ways_of_mpirun(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(OF_MPIRUN)}


def command_in_laboratory(nodes: int, rate: str, command: list[str]) -> list[str]:
    """`command` in a laboratory with a host for each node."""
    folders = f"{os.environ.get('FOURSCORE_BIN', '')}:{PATH}".lstrip(":")
    fourscore = shutil.which("fourscore", path=folders)
    if fourscore is None:
        raise RigError("--rate takes the program fourscore: put its folder into PATH, or name it with FOURSCORE_BIN")
    return [fourscore, "laboratory", "--hosts", str(nodes), "--rate", rate, "--", *command]
