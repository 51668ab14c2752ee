"""A suite that cannot be used: file, line, key, what is allowed; exit code 2; nothing written."""

import json
import resource
import signal
import time

import pytest

GOOD = 'name = "s"\n[[sweep]]\nvariant = "good"\nshape = "4x4x4"\nranks = 1\n'




def product(count: int, keys: int, more: str = "") -> str:
    """A sweep of count^keys combinations, all of them the same point, or dropped, as `more` says."""
    names = ["precision", "layout", "buffers", "planner", "kind", "direction", "local_fft", "grid", "exchange", "placement"]
    values = ["double", "natural", "in-place", "measure", "c2c", "forward", "fftw", "auto", "none", "all"]
    lists = "".join(f"{key} = {json.dumps([value] * count)}\n" for key, value in list(zip(names, values))[:keys])
    return GOOD + lists + more


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (GOOD.replace("shape", "shpae"), 4, ["'shpae'", "did you mean 'shape'", "allowed:", "precision"]),
        ("lanches = 3\n" + GOOD, 1, ["'lanches'", "did you mean 'launches'"]),
        ("launches = 0\n" + GOOD, 1, ["'launches'", "from 1 to 1000"]),
        ('launches = "3"\n' + GOOD, 1, ["'launches'", "integer"]),
        ('order = "sorted"\n' + GOOD, 1, ["'order'", "random", "listed"]),
        ("isolate = 1\n" + GOOD, 1, ["'isolate'", "true or false"]),
        ("timeline = 1\n" + GOOD, 1, ["'timeline'", "true or false"]),
        ('counters = "calgrind"\n' + GOOD, 1, ["'counters'", "'calgrind' is unknown", "callgrind", "none"]),
        ('counter_group = "MEM"\n' + GOOD, 1, ["'counter_group'", "none without counters"]),
        ('counters = "perf"\ncounter_cache = "1MiB"\n' + GOOD, 2, ["'counter_cache'", "simulate no cache"]),
        ('counters = "callgrind"\ncounter_cache = "1MiB,7"\n' + GOOD, 2, ["'counter_cache'", "1MiB,7", "expected SIZE"]),
        ("time_limit_s = -1\n" + GOOD, 1, ["'time_limit_s'", "number from"]),
        (GOOD.replace('"s"', '"a b"'), 1, ["'name'", "letters"]),
        (GOOD.replace('name = "s"\n', ""), 1, ["'name' is missing"]),
        (GOOD.replace('shape = "4x4x4"', ""), 2, ["'shape' is missing"]),
        (GOOD.replace("4x4x4", "0x4x4"), 4, ["'shape'", "0x4x4"]),
        (GOOD.replace("4x4x4", "128x"), 4, ["'shape'", "128x"]),
        (GOOD.replace("4x4x4", "4*ranksx4x4*rank"), 4, ["'shape'"]),
        (GOOD.replace("ranks = 1", "ranks = 0"), 5, ["'ranks'", "1..cores"]),
        (GOOD.replace("ranks = 1", 'ranks = "all"'), 5, ["'ranks'", "1..cores"]),
        (GOOD + "threads = 5000\n", 6, ["'threads'", "threads '5000': expected an integer from 1 to 4096"]),
        (GOOD + "threads = [1, 4097]\n", 6, ["'threads'", "'4097'"]),
        (GOOD.replace("ranks = 1", "ranks = []"), 5, ["'ranks'", "at least one"]),
        (GOOD + 'precision = "half"\n', 6, ["'precision'", "half", "double"]),
        (GOOD + 'grid = "2y2"\n', 6, ["'grid'", "2y2"]),
        (GOOD + 'grid = "squre"\n', 6, ["'grid'", "squre", "auto", '"square"', '"all"']),
        (GOOD + 'exclude = [{ grid = "square" }]\n', 6, ["'grid'", "'square' names no grid in 'exclude'", "expected auto"]),
        (GOOD + 'exchange = ""\n', 6, ["'exchange'", "expected the name of an exchange"]),
        (GOOD.replace('"good"', '"al"'), 3, ["'variant'", "unknown variant 'al'"]),
        ("[defaults]\nvariant = \"all\"\n" + GOOD, 2, ["'variant'", "one value", '"all" stands in [[sweep]]']),
        ("[defaults]\nexchange = \"all\"\n" + GOOD, 2, ["'exchange'", "one value"]),
        ("[defaults]\ngrid = \"all\"\n" + GOOD, 2, ["'grid'", "one value"]),
        (GOOD + 'platform = ["none", "bluegene-l"]\n', 6, ["'platform'", "bluegene-l is simulated", "either simulated or real"]),
        (GOOD + 'kind = "r2r"\n', 6, ["'kind'", "r2r", "c2c, r2c, c2r"]),
        (GOOD + 'kind = "c2r"\ndirection = ["backward", "forward"]\n', 6, ["'kind'", "c2r", "direction is forward"]),
        (GOOD + 'zip = [["shape", "grid"]]\n', 6, ["'zip'", "'grid'"]),
        (GOOD + 'tags = 3\n', 6, ["'tags'"]),
        (GOOD + 'tags = ["-x"]\n', 6, ["'tags' is '-x'", "letters, digits and -"]),
        (GOOD + 'tags = ["x", "x"]\n', 6, ["'tags' says 'x' twice"]),
        (GOOD + 'exclude = [{ tags = "x" }]\n', 6, ["'tags'", "unknown key"]),
        (GOOD + 'zip = "shape"\n', 6, ["'zip'", "list of lists"]),
        (GOOD.replace("ranks = 1", "ranks = [1, 2]") + 'zip = [["shape", "ranks"]]\n', 6, ["same length"]),
        (GOOD + 'exclude = [{ variants = "good" }]\n', 6, ["'variants'", "did you mean 'variant'"]),
        (GOOD + "exclude = [{}]\n", 6, ["'exclude'"]),
        (GOOD + 'exclude = [{ variant = "good" }]\n', 2, ["no point is left"]),
        (GOOD + "parameters = 3\n", 6, ["'parameters'", "table"]),
        ("[defaults]\nranks = [1, 2]\n" + GOOD, 2, ["'ranks'", "one value"]),
        (product(1000, 3), 2, ["multiply to 1000000000 combinations", "at most 1000000", "equal included"]),
        (product(1000, 10), 2, ["multiply to 1e+30 combinations"]),
        (product(1000, 3, 'exclude = [{ variant = "good" }]\n'), 2, ["multiply to 1000000000 combinations"]),
        (product(1000, 1, f"exclude = [{{ ranks = {list(range(2, 30002))} }}]\n"), 2, ["1000 combinations", "30000 values"]),
        (GOOD.replace("4x4x4", "549755814912*ranks").replace("ranks = 1", "ranks = 16777216"), 4, ["'shape'", "beyond 64 bits"]),
        (GOOD.replace("4x4x4", "1*ranks" * 50000), 4, ["'shape'"]),
        ("a" + ".a" * 50000 + " = 1\n" + GOOD, 1, ["dotted key", "more than 16 parts"]),
        (GOOD + "[" + "a." * 50000 + "a]\n", 6, ["dotted key"]),
        (GOOD + 'parameters = { "a"' + '."a"' * 50000 + " = 1 }\n", 6, ["dotted key"]),
        ('description = """\n\n"""\nx' + ".x" * 99 + " = 1\n" + GOOD, 4, ["dotted key"]),
        (GOOD + "#" * (5 << 20), None, ["bytes", "at most 4194304"]),
        ("", 1, ["'name' is missing"]),
        (
            "launches = 1000\n" + GOOD.replace('"4x4x4"', json.dumps([str(n) for n in range(1, 2002)])),
            1,
            ["'launches' is 1000", "2001 points", "2001000 launches", "at most 1000000"],
        ),
        ('name = "s"\n', None, ["no [[sweep]]"]),
        ('paper = "table-2.1"\n' + GOOD, 1, ["'paper' is 'table-2.1'", '"lee2018/table-2.1"']),
        ('paper = ["a/b", "a/../b"]\n' + GOOD, 1, ["'paper' is 'a/../b'"]),
        ("paper = 3\n" + GOOD, 1, ["'paper'", "a string"]),
        ('sizes = "here"\n' + GOOD, 1, ["'sizes'", "a list of names", '["here", "paper"]']),
        ("sizes = []\n" + GOOD, 1, ["'sizes'", "at least one"]),
        ('sizes = ["a", "a"]\n' + GOOD, 1, ["'sizes'", "each once"]),
        ('sizes = ["a b"]\n' + GOOD, 1, ["'sizes'", "letters"]),
        (GOOD + 'size = "here"\n', 6, ["'size'", "the suite has no sizes", 'sizes = ["here", "paper"]']),
        ('sizes = ["here", "paper"]\n' + GOOD + 'size = "papr"\n', 7, ["'size': 'papr'", 'sizes = ["here", "paper"]']),
        ('sizes = ["here"]\n' + GOOD + "size = 1\n", 7, ["'size'", "a string"]),
        ('sizes = ["here"]\n' + GOOD + "[size.paper]\nlaunches = 2\n", 7, ["'size': 'paper' is no size"]),
        ('sizes = ["here"]\nsize = "here"\n' + GOOD, 2, ["'size'", "a table for each size", "[size.paper]"]),
        ('sizes = ["here"]\nsize.here = 1\n' + GOOD, 2, ["'size.here'", "[size.here]"]),
        (GOOD + "[size.paper]\nlaunches = 2\n", 6, ["'size'", "the suite has no sizes"]),
        ('sizes = ["a", "b"]\n' + GOOD + "[size.b]\nlanches = 2\n", 8, ["'lanches' in [size.b]", "did you mean 'launches'"]),
        ('sizes = ["a", "b"]\n' + GOOD + "[size.b]\nlaunches = 0\n", 8, ["'launches'", "from 1 to 1000"]),
        ('sizes = ["a", "b"]\n' + GOOD + 'size = "b"\n', 3, ["no point is left of size 'a'", "of another size"]),
        (
            'sizes = ["a", "b"]\n' + GOOD + '[[sweep]]\nsize = "b"\nvariant = "good"\nshape = "4x"\nranks = 1\n',
            10,
            ["'shape'", "4x"],
        ),
        ('name = "s\n', 1, ["not TOML"]),
    ],
)
def test_an_unusable_suite_is_refused_with_file_line_and_key(fourscore, text, line, words):
    if text.startswith("[defaults]"):
        head, _, rest = text.partition('name = "s"\n')
        text = 'name = "s"\n' + head + rest
        line += 1
    suite = fourscore.suite(text)
    error = fourscore("run", suite, code=2).stderr
    assert str(suite) + (f":{line}:" if line else ":") in error
    for word in words:
        assert word in error
    assert not fourscore.archive.exists()


def test_dots_that_divide_no_key_are_not_counted(fourscore):
    fourscore("run", fourscore.suite(f'description = "{"." * 99}"\n# {"." * 99}\n' + GOOD + f"parameters = {{ a = '{'.' * 99}' }}\n"))


def test_a_product_of_which_little_is_left_expands(fourscore):
    lists = json.dumps([f"{n}x4" for n in range(1, 301)])
    text = GOOD.replace('"4x4x4"', lists) + f"planner = {json.dumps(['measure'] * 300)}\n"
    planned = fourscore.plan(fourscore.suite(text))
    assert len(planned["launches"]) == 900


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_expanding_a_suite_can_be_interrupted(fourscore, number):
    # 10^6 combinations, each compared with 20 values: minutes, or seconds on a machine with nothing else to do.
    more = f"exclude = [{{ ranks = {list(range(2, 22))} }}]\n"
    process = fourscore.start("run", fourscore.suite(product(1000, 2, more)), "--dry-run")
    time.sleep(1)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err == "fourscore: interrupted\n"


def test_what_the_program_refuses_is_named_with_file_line_and_key(fourscore):
    suite = fourscore.suite('name = "s"\n[defaults]\nranks = 1\n[[sweep]]\nshape = "4"\nvariant = [\n  "good",\n  "godo",\n]\n')
    error = fourscore("run", suite, code=2).stderr
    assert f"{suite}:8: key 'variant': unknown variant 'godo'" in error


def cpu_s_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_ten_times_the_refused_values_are_named_in_ten_times_the_time(fourscore):
    """Each value compared with each took a hundred times as long."""
    took = []
    for count in (1000, 10_000):
        values = "\n".join([*(f'"x{n}",' for n in range(count)), '"x7",', "]\n"])
        suite = fourscore.suite(f'name = "s"\n[[sweep]]\nshape = "4"\nranks = 1\nvariant = [\n{values}')
        before = cpu_s_of_children()
        error = fourscore("run", suite, "--dry-run", code=2).stderr
        took.append(cpu_s_of_children() - before)
        assert len(error.splitlines()) == count
        for n in (0, 7, count - 1):
            assert f"{suite}:{n + 6}: key 'variant': unknown variant 'x{n}'" in error
    assert took[1] < 15 * took[0]


def test_what_a_suite_holds_does_not_reach_the_terminal_as_it_is(fourscore):
    suite = fourscore.suite('name = "s"\n"\\u001b[2J" = 1\n')
    assert r"unknown key '\x1b[2J'" in fourscore("run", suite, code=2).stderr
    suite = fourscore.suite('name = "s"\n[[sweep]]\nvariant = "\\u001b]0;x\\u0007"\nshape = "4"\nranks = 1\n')
    error = fourscore("run", suite, code=2).stderr
    assert r"\x1b]0;x\x07" in error and "\x1b" not in error


def test_a_missing_suite_is_named_with_the_nearest(fourscore):
    error = fourscore("run", "smoek", code=2).stderr
    assert "'smoek'" in error and "did you mean 'smoke'" in error


def test_the_shipped_suites_expand(fourscore):
    suites = fourscore.json("list", "suites")
    assert {"smoke", "strong", "weak", "breakdown", "peers"} <= {suite["name"] for suite in suites}
    for suite in suites:
        assert suite["available"], suite["reason"]
        assert suite["points"] > 0 and suite["summary"]
