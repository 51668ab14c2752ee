"""Writes the topologies beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

KIB, MIB = 1 << 10, 1 << 20


def mask(units: Iterable[int]) -> str:
    """As hwloc writes a set: words of 32 bits, the highest first."""
    bits = sum(1 << unit for unit in units)
    words = [
        f"0x{bits >> shift & 0xFFFFFFFF:08x}"
        for shift in range(0, max(bits.bit_length(), 1), 32)
    ]
    return ",".join(reversed(words))


@dataclass
class Node:
    kind: str
    attributes: dict[str, object]
    children: tuple[Node, ...] = ()
    infos: dict[str, str] = field(default_factory=dict)

    def units(self) -> list[int]:
        own = [int(str(self.attributes["os_index"]))] if self.kind == "PU" else []
        return own + [unit for child in self.children for unit in child.units()]

    def lines(self, number: Iterable[int], indent: str) -> list[str]:
        sets = {name: mask(self.units()) for name in ("cpuset", "complete_cpuset")}
        sets |= dict.fromkeys(("nodeset", "complete_nodeset"), "0x00000001")
        attributes = {
            "type": self.kind,
            **self.attributes,
            **sets,
            "gp_index": next(number),
        }
        head = (
            indent
            + "<object "
            + " ".join(f'{name}="{value}"' for name, value in attributes.items())
        )
        inner = [
            f'{indent}  <info name="{name}" value="{value}"/>'
            for name, value in self.infos.items()
        ]
        inner += [
            line
            for child in self.children
            for line in child.lines(number, indent + "  ")
        ]
        return (
            [head + "/>"] if not inner else [head + ">", *inner, indent + "</object>"]
        )


def unit(index: int) -> Node:
    return Node("PU", {"os_index": index})


def core(index: int, *units: int) -> Node:
    return Node("Core", {"os_index": index}, tuple(map(unit, units)))


def cache(level: int, size: int, *children: Node) -> Node:
    kind = 1 if level == 1 else 0  # data, or unified
    attributes = {
        "cache_size": size,
        "depth": level,
        "cache_linesize": 64,
        "cache_associativity": 8,
        "cache_type": kind,
    }
    return Node(f"L{level}Cache", attributes, children)


def package(index: int, *children: Node, model: str = "") -> Node:
    return Node(
        "Package", {"os_index": index}, children, {"CPUModel": model} if model else {}
    )


def write(
    name: str,
    *children: Node,
    kinds: Iterable[tuple[Iterable[int], str, str]] = (),
    offline: Iterable[int] = (),
    disallowed: Iterable[int] = (),
) -> None:
    online = sorted(one for child in children for one in child.units())
    sets = {
        "cpuset": mask(online),
        "complete_cpuset": mask({*online, *offline}),
        "allowed_cpuset": mask(set(online) - set(disallowed)),
        **dict.fromkeys(
            ("nodeset", "complete_nodeset", "allowed_nodeset"), "0x00000001"
        ),
    }
    memory = Node("NUMANode", {"os_index": 0, "local_memory": 8 << 30})
    memory.units = lambda: online  # type: ignore[method-assign]
    number = iter(range(2, 1000))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<!DOCTYPE topology SYSTEM "hwloc2.dtd">',
        '<topology version="2.0">',
    ]
    lines += [
        '  <object type="Machine" os_index="0" '
        + " ".join(f'{k}="{v}"' for k, v in sets.items())
        + ' gp_index="1">'
    ]
    lines += [
        line for child in (memory, *children) for line in child.lines(number, "    ")
    ]
    lines += ["  </object>"]
    for units, info, value in kinds:
        lines += [
            f'  <cpukind cpuset="{mask(units)}">',
            f'    <info name="{info}" value="{value}"/>',
            "  </cpukind>",
        ]
    (Path(__file__).parent / f"{name}.xml").write_text(
        "\n".join([*lines, "</topology>", ""])
    )


def main() -> None:
    fast = [
        cache(2, 1280 * KIB, cache(1, 48 * KIB, core(4 * i, 2 * i, 2 * i + 1)))
        for i in range(6)
    ]
    slow = [
        cache(
            2,
            2 * MIB,
            *[cache(1, 32 * KIB, core(i, i)) for i in range(first, first + 4)],
        )
        for first in (12, 16)
    ]
    types = [
        (range(12, 20), "CoreType", "IntelAtom"),
        (range(12), "CoreType", "IntelCore"),
    ]
    write(
        "two-kinds-of-core",
        package(0, cache(3, 24 * MIB, *fast, *slow), model="fast and slow"),
        kinds=types,
    )

    def large(index: int, *units: int) -> Node:
        return cache(2, MIB, cache(1, 32 * KIB, core(index, *units)))

    def small(index: int, *units: int) -> Node:
        return cache(1, 32 * KIB, core(index, *units))

    whole = package(
        0, cache(3, 16 * MIB, *[large(i, 2 * i, 2 * i + 1) for i in range(4)])
    )
    write(
        "partly-offline",
        whole,
        package(1, cache(3, 16 * MIB, large(4, 8), large(5, 10, 11))),
        offline=[9, 12, 13, 14, 15],
    )
    write(
        "first-core-half-offline",
        package(0, cache(3, 8 * MIB, large(0, 0), large(1, 2, 3))),
        offline=[1],
    )
    write(
        "partly-disallowed",
        package(0, cache(3, 8 * MIB, *[small(i, 2 * i, 2 * i + 1) for i in range(4)])),
        disallowed=[0, 1, 2],
    )
    write(
        "no-cores",
        package(
            0,
            cache(
                3,
                8 * MIB,
                *[cache(2, MIB, cache(1, 32 * KIB, unit(i))) for i in range(4)],
            ),
        ),
    )
    write("no-cores-and-no-caches", *map(unit, range(3)))
    write(
        "some-units-without-core",
        package(0, core(0, 0, 1), core(1, 2, 3)),
        package(1, unit(4), unit(5)),
    )
    capacities = [
        (range(4), "LinuxCapacity", "446"),
        (range(4, 6), "LinuxCapacity", "1024"),
    ]
    write(
        "unlike-by-capacity",
        package(0, *[core(i, i) for i in range(4)]),
        package(1, core(4, 4), core(5, 5)),
        kinds=capacities,
    )
    favoured = [(range(3), "FrequencyMaxMHz", "3000"), ([3], "FrequencyMaxMHz", "5000")]
    write(
        "favoured-cores",
        package(0, cache(3, 8 * MIB, *[small(i, i) for i in range(4)])),
        kinds=favoured,
    )
    large_and_small = (
        cache(3, 96 * MIB, small(0, 0), small(1, 2)),
        cache(3, 32 * MIB, small(2, 1), small(3, 3)),
    )
    write("unlike-last-level-caches", package(0, *large_and_small))
    write("one-unit", core(0, 0))


if __name__ == "__main__":
    main()
