"""What the fakes say of the machine and of themselves, for them and for tests that expect it."""

import json
import os

try:  # hashlib would load OpenSSL, at each of a thousand starts
    from _sha2 import sha256
except ImportError:  # before Python 3.12
    from _sha256 import sha256

HERE = os.path.dirname(os.path.realpath(__file__))
FAKE_BENCH, FAKE_COMPONENT = f"{HERE}/fake_bench", f"{HERE}/fake_component"
MACHINE, CODE, COMPONENT_CODE = "m" * 16, "c" * 16, "e" * 16


def short_hash(value):
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:16]


def machine(name=MACHINE, cores=2):
    return {"cpu_model": name, "cores": cores, "memory_bytes": 24 << 30, "gpus": [], "interconnect": []}


def code(name=CODE, program=FAKE_BENCH):
    with open(program, "rb") as file:
        digest = sha256(file.read()).hexdigest()
    words = dict.fromkeys(("compiler", "dirty_sha256", "flags", "mpi", "revision"), "")
    return words | {"binary_sha256": digest, "build_type": name}


def machine_hash(name=MACHINE, cores=2):
    return short_hash(machine(name, cores))


def code_hash(name=CODE, program=FAKE_BENCH):
    return short_hash(code(name, program))


def identity_answer(environment, name, program):
    """What --identity answers, where $FAKE_MACHINE names the machine and $FAKE_CORES says its cores."""
    identity = {
        "machine": machine(environment.get("FAKE_MACHINE", MACHINE), int(environment.get("FAKE_CORES", "2"))),
        "code": code(name, program),
    }
    hashes = {f"{part}_hash": short_hash(value) for part, value in identity.items()}
    return {"identity": identity, "program": program} | hashes
