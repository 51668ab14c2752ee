"""Processes that share the work of a command. They never outlive it, however it ends: no command may leave processes
behind that nobody waits for."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

PR_SET_PDEATHSIG = 1  # prctl(2)


def available_cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start_method() -> str:
    """Forking is quickest, and hashes are then the same in all processes; but a program that has threads, or whose
    libraries take no fork, may have chosen otherwise (multiprocessing.set_start_method). A server that forks would not
    be the parent of the workers."""
    chosen = multiprocessing.get_start_method(allow_none=True)
    return "fork" if chosen == "fork" or (chosen is None and sys.platform == "linux") else "spawn"


def pool_of(
    workers: int, receive: Callable[..., None] | None = None, values: tuple[Any, ...] = ()
) -> ProcessPoolExecutor:
    """`receive(*values)` begins each: forked, it has the values for nothing. An interrupt reaches the command, which
    ends them; when it is ended by a signal, even one that it cannot handle, the kernel does."""
    context = multiprocessing.get_context(start_method())
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(os.getpid(), receive, values))


def _begin(parent: int, receive: Callable[..., None] | None, values: tuple[Any, ...]) -> None:
    _end_with(parent)
    if receive:
        receive(*values)


def _end_with(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prctl = getattr(ctypes.CDLL(None), "prctl", None)  # Linux only
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before it was asked for
            os._exit(1)
