"""`fourscore laboratory`: hosts with names, processes, folders and links of their own, and nothing left of them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import pty
import random
import re
import shlex
import signal
import subprocess
import termios
import time

import pytest
from laboratories import PATH, Traces, unavailable
from processes import wait_for

takes_root = pytest.mark.skipif(bool(unavailable()), reason=unavailable() or "none")
SECONDS = 60


class Laboratory:
    """`fourscore laboratory`, whose traces are looked for at the end of a test."""

    def __init__(self, fourscore):
        self.fourscore = fourscore
        self.traces = Traces()

    def start(self, *words: object, **options) -> subprocess.Popen:
        options.setdefault("stdin", subprocess.DEVNULL)
        environment = self.traces.environment | options.pop("environment", {})
        return self.fourscore.start("laboratory", *words, environment=environment, **options)

    def __call__(self, *words: object, code: int = 0, **options) -> subprocess.CompletedProcess:
        process = self.start(*words, **options)
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert process.returncode == code, f"exit {process.returncode}, expected {code}\n{out}\n{err}"
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def shell(self, script: str, *options: object, **more) -> str:
        return self(*options, "--", "sh", "-c", script, **more).stdout


@pytest.fixture
def laboratory(fourscore):
    made = Laboratory(fourscore)
    yield made
    made.traces.wait_until_gone()


@takes_root
def test_hosts_have_names_and_addresses_of_their_own(laboratory):
    lines = laboratory.shell("hostname; for h in h1 h2 h3; do ssh $h 'hostname; getent hosts $(hostname); "
                             "ip -4 -o address show eth0'; done", "--hosts", 3).splitlines()  # fmt: skip
    assert lines[0] == "front"
    assert lines[1::3] == ["h1", "h2", "h3"]
    addresses = [line.split()[0] for line in lines[2::3]]
    assert len(set(addresses)) == 3
    for address, shown in zip(addresses, lines[3::3], strict=True):
        assert f"inet {address}/" in shown


@takes_root
def test_hosts_reach_each_other_and_nobody_else(laboratory):
    names = "print(open('/proc/net/route').read())"
    routes = laboratory.shell(f'ssh h1 "python3 -c \\"{names}\\""', "--hosts", 2)
    assert "00000000" not in [line.split()[1] for line in routes.splitlines()[1:] if line], "a way out"
    listener = "import socket; s = socket.create_server(('', 5000)); print(s.accept()[0].recv(9).decode())"
    sender = "import socket; socket.create_connection(('h1', 5000)).send(b'hello')"
    (laboratory.fourscore.folder / "l.py").write_text(listener)
    (laboratory.fourscore.folder / "s.py").write_text(sender)
    script = "ssh h1 python3 l.py & until ssh h2 python3 s.py 2>/dev/null; do sleep 0.05; done; wait"
    assert laboratory.shell(script, "--hosts", 2).strip() == "hello"


@takes_root
def test_a_host_has_folders_and_processes_of_its_own_and_sees_the_current_folder(laboratory):
    folder = laboratory.fourscore.folder
    (folder / "here").write_text("seen\n")
    name = f"of-h1-{os.getpid()}"
    script = f"""
        ssh h1 'touch /tmp/{name} /dev/shm/{name}; cat here; echo from-h1 > there'
        ssh h2 'ls /tmp/{name} /dev/shm/{name}; ls -d /proc/[0-9]* | wc -l; ls /sys/class/net'
        cat there
    """
    run = laboratory("--hosts", 2, "--", "sh", "-c", script)
    lines = run.stdout.splitlines()
    assert lines[0] == "seen"
    assert int(lines[1]) < 8, "processes of others"
    assert set(lines[2:4]) == {"eth0", "lo"}
    assert lines[4] == "from-h1"
    assert run.stderr.count("No such file") == 2
    assert not pathlib.Path("/tmp", name).exists()


@takes_root
def test_folders_below_tmp_are_seen_where_they_are_shared(laboratory, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "file").write_text("shared")
    (laboratory.fourscore.folder / "within").mkdir()
    options = ["--hosts", 1, "--share", other, "--share", laboratory.fourscore.folder / "within"]
    assert laboratory.shell(f"ssh h1 cat {other}/file", *options) == "shared"


@takes_root
def test_the_exit_code_is_the_commands(laboratory):
    laboratory.shell("exit 7", code=7)
    laboratory.shell("kill -KILL $$", code=128 + signal.SIGKILL)
    laboratory.shell("ssh h2 'exit 9'", code=9)
    laboratory.shell("ssh h2 'kill -TERM $$'", code=128 + signal.SIGTERM)


@takes_root
def test_ssh_takes_the_words_of_ssh(laboratory):
    script = "ssh -x -o BatchMode=yes root@h2 'echo $((1+1))' and more; echo from stdin | ssh h1 cat"
    assert laboratory.shell(script).splitlines() == ["2 and more", "from stdin"]


@takes_root
def test_what_cannot_be_entered_is_said(laboratory):
    run = laboratory("--hosts", 3, "--", "sh", "-c", "ssh h4 hostname", code=2)
    assert "no host 'h4' in this laboratory of 3: h1 to h3, did you mean" in run.stderr
    run = laboratory("--", "sh", "-c", "ssh h1 ssh h2 hostname", code=2)
    assert "a host cannot be entered from another one" in run.stderr
    many = "for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & done; ssh h2 hostname"  # numbers of processes of both
    run = laboratory("--", "ssh", "h1", many, code=2)
    assert "a host cannot be entered from another one" in run.stderr
    run = laboratory.fourscore("laboratory", "--enter", "--", "h1", "hostname", code=2)
    assert "this is no laboratory" in run.stderr


@takes_root
def test_nothing_is_left_of_what_a_command_started(laboratory):
    folder = laboratory.fourscore.folder
    script = "ssh h1 'setsid sleep 1000 >&- 2>&- & echo $!'; setsid sleep 1000 >&- 2>&- & touch started; sleep 0.3"
    process = laboratory.start("--hosts", 4, "--rate", "100mbit", "--", "sh", "-c", script)
    assert wait_for((folder / "started").exists)
    assert laboratory.traces.look() >= 5 * 5, "four hosts and the front have five namespaces each"
    process.communicate(timeout=SECONDS)
    # The command waits for the kernel: not a moment later anything is left.
    assert laboratory.traces.left() == ""


def children_of(process: int) -> list[int]:
    try:
        return [int(child) for child in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:  # it has ended
        return []


def kill_below(process: int, generations: int) -> None:
    """Its child's child, for two generations; one nearer where there is none yet."""
    for _ in range(generations):
        process = (children_of(process) or [process])[-1]
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


@takes_root
@pytest.mark.parametrize(("victim", "generations"), [("laboratory", 0), ("front", 1), ("command", 2)])
def test_a_kill_at_any_moment_leaves_nothing(laboratory, victim, generations):
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    moments = random.Random(seed)
    for _ in range(7):
        script = "ssh h1 sleep 1000 & ssh h2 sleep 1000"
        process = laboratory.start("--hosts", 4, "--rate", "100mbit", "--", "sh", "-c", script)
        time.sleep(moments.uniform(0, 0.4))
        laboratory.traces.look()
        kill_below(process.pid, generations)
        try:
            process.communicate(timeout=1 if victim == "command" else SECONDS)
        except subprocess.TimeoutExpired:  # it was ip or tc, or ended before the kill: the command is still to come
            kill_below(process.pid, generations)
            process.communicate(timeout=SECONDS)
        assert process.returncode != 0
        laboratory.traces.wait_until_gone()


NOTES_A_SIGNAL = """
trap 'echo got >> got' {}
touch ready
while [ ! -s got ]; do sleep 0.05; done
sleep 0.3
exit 5
"""


@takes_root
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_are_passed_on_to_the_command_once(laboratory, sent):
    folder = laboratory.fourscore.folder
    name = signal.Signals(sent).name.removeprefix("SIG")
    process = laboratory.start("--", "sh", "-c", NOTES_A_SIGNAL.format(name))
    assert wait_for((folder / "ready").exists)
    process.send_signal(sent)
    process.communicate(timeout=SECONDS)
    assert process.returncode == 5
    assert (folder / "got").read_text() == "got\n"


@takes_root
def test_an_interrupt_from_the_terminal_reaches_the_command_once(laboratory):
    folder = laboratory.fourscore.folder
    ours, theirs = pty.openpty()
    try:
        # In a session of its own, whose terminal it is.
        process = laboratory.start("--", "sh", "-c", NOTES_A_SIGNAL.format("INT"), stdin=theirs, start_new_session=True,
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))  # fmt: skip
        assert wait_for((folder / "ready").exists)
        os.write(ours, b"\x03")
        process.communicate(timeout=SECONDS)
    finally:
        os.close(ours)
        os.close(theirs)
    assert process.returncode == 5
    assert (folder / "got").read_text() == "got\n"


@takes_root
def test_it_says_what_to_make_without_memory_to_mount_on(fourscore):
    empty = fourscore.folder / "dev"
    empty.mkdir()
    command = shlex.join(fourscore.command("laboratory", "--", "true"))
    script = f"exec 3>/dev/null && mount --bind {shlex.quote(str(empty))} /dev && {command}"
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "/dev/shm is not there" in done.stderr
    assert "`mkdir /dev/shm` as root" in done.stderr


@takes_root
def test_two_laboratories_at_once_do_not_see_each_other(fourscore):
    first, second = Laboratory(fourscore), Laboratory(fourscore)
    listener = "import socket; s = socket.create_server(('', 5000)); open('listens', 'w').close(); s.accept()"
    (fourscore.folder / "l.py").write_text(listener)
    process = first.start("--", "ssh", "h1", "touch /tmp/of-the-first; exec python3 l.py")
    assert wait_for((fourscore.folder / "listens").exists)
    connect = "import socket; socket.create_connection(('10.80.0.1', 5000), 5)"
    (fourscore.folder / "c.py").write_text(connect)
    run = second("--", "sh", "-c", "ssh h2 python3 c.py || ssh h1 ls /tmp")
    assert "Connection refused" in run.stderr
    assert "of-the-first" not in run.stdout
    second.traces.wait_until_gone()
    assert process.poll() is None, "the end of one ended the other"
    process.kill()
    process.communicate(timeout=SECONDS)
    first.traces.wait_until_gone()


SENDER = """
import socket
with socket.create_connection(("h2", 5000)) as connection:
    while True:
        connection.sendall(bytes(65536))
"""
SINK = """
import socket, time
def received():
    return int(open("/sys/class/net/eth0/statistics/rx_bytes").read())
connection = socket.create_server(("", 5000)).accept()[0]
begin = None
start = time.monotonic()
while time.monotonic() < start + 2.5:
    connection.recv(1 << 20)
    if begin is None and time.monotonic() > start + 0.5:
        begin = (received(), time.monotonic())
print(8 * (received() - begin[0]) / (time.monotonic() - begin[1]))
"""


def bits_per_s(laboratory, *options: object) -> float:
    """The rate of what reaches h2 from h1, counted by its interface while it comes, and not before."""
    (laboratory.fourscore.folder / "sink.py").write_text(SINK)
    (laboratory.fourscore.folder / "sender.py").write_text(SENDER)
    script = """
        ssh h2 python3 sink.py & sink=$!
        while [ -d /proc/$sink ]; do ssh h1 python3 sender.py 2>/dev/null; sleep 0.05; done
    """
    return float(laboratory.shell(script, *options))


@takes_root
@pytest.mark.parametrize(("rate", "expected"), [("10mbit", 10e6), ("100mbit", 100e6), ("5mbps", 40e6)])
def test_a_link_carries_its_rate(laboratory, rate, expected):
    assert bits_per_s(laboratory, "--rate", rate) == pytest.approx(expected, rel=0.2)


@takes_root
def test_a_link_without_a_rate_is_not_limited(laboratory):
    assert bits_per_s(laboratory) > 300e6


@takes_root
def test_links_are_limited_in_both_directions(laboratory):
    shown = laboratory.shell("tc qdisc show; ssh h1 tc qdisc show; ssh h2 tc qdisc show", "--rate", "20mbit")
    assert len(re.findall(r"qdisc tbf .* rate 20Mbit ", shown)) == 4


@takes_root
def test_hosts_get_the_cores_that_they_are_given(laboratory):
    cores = sorted(os.sched_getaffinity(0))
    mask = "ssh h{} grep Cpus_allowed_list /proc/self/status"
    one, two = (
        line.split()[1] for line in laboratory.shell(f"{mask.format(1)}; {mask.format(2)}", "--cores", 1).splitlines()
    )
    assert one != two or len(cores) == 1
    all_of_them = laboratory.shell(mask.format(1)).split()[1]
    assert all_of_them == next(
        line.split()[1]
        for line in pathlib.Path("/proc/self/status").read_text().splitlines()
        if "Cpus_allowed_list" in line
    )


@takes_root
def test_a_command_that_does_not_exist_is_named(laboratory):
    assert "'no-such-program' cannot be started: No such file" in laboratory("--", "no-such-program", code=2).stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rate", "fast", "--", "true"], "--rate is 'fast'; expected a rate as tc(8) has it"),
        (
            ["--rate", "1bit", "--", "true"],
            "--rate is '1bit'; a token bucket (tc-tbf) holds rates from 64kbit to 10gbit",
        ),
        (["--hosts", "0", "--", "true"], "--hosts is 0; expected 1 to 250"),
        (["--hosts", "251", "--", "true"], "--hosts is 251; expected 1 to 250"),
        (["--cores", "100000", "--", "true"], "--cores is 100000; expected 1 to "),
        (["--share", "/proc/no/such/folder", "--", "true"], "--share is '/proc/no/such/folder': No such file or directory"),
        (["--share", "/tmp", "--", "true"], "--share is '/tmp', of which each host has its own"),
        (["--", ""], "no command; expected one after --"),
        ([], "command is required"),
        (["--host", "3", "--", "true"], "did you mean '--hosts'"),
    ],
)
def test_bad_input_is_named_with_what_is_expected(fourscore, words, said):
    assert said in fourscore("laboratory", *words, code=2).stderr


def test_a_user_without_namespaces_is_told_what_they_take(fourscore):
    command = fourscore.command("laboratory", "--", "true")
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-all", *command]
    run = subprocess.run(
        command, env=fourscore.environment, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert run.returncode == 3, run.stderr
    assert (
        "no laboratory can be set up here: it takes root, or the capabilities CAP_SYS_ADMIN and CAP_NET_ADMIN"
        in run.stderr
    )


@takes_root
@pytest.mark.parametrize("program", ["ip", "tc"])
def test_the_package_of_a_missing_program_is_named(fourscore, program):
    hidden = [f"{folder}/{program}" for folder in PATH.split(":") if pathlib.Path(folder, program).exists()]
    hide = "; ".join(f"mount --bind /dev/null {path}" for path in hidden)
    command = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        f'{hide}; exec "$@"',
        "sh",
        *fourscore.command("laboratory", "--", "true"),
    ]
    run = subprocess.run(
        command, env=fourscore.environment, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert run.returncode == 3, run.stderr
    assert f"no program '{program}' in PATH, /usr/sbin or /sbin; it is of iproute2" in run.stderr
