"""What a whole record has beside what the fakes measure: results/run-record.schema.json asks for it."""

import time

from fake_identity import short_hash

RESOLVED = {"grid": [], "input": "whole", "output": "whole"}
CHECK = {"name": "dft", "when": "before", "error": 0.0, "tolerance": 1e-15}
PLAN = {"distinct_plans": 1, "local_fft": ["fake"], "time_s": 0.001, "wisdom": "none"}
SAMPLING = {"start": "barrier", "check": "all", "isolate": False, "phases": True, "seed": 1, "timeline": False, "warmup": 1}


def now():
    seconds, part_ns = divmod(time.time_ns(), 10**9)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{part_ns // 10**6:03}Z"


def whole(record, identity):
    """The record of a launch that went well, or ended wrong, with all that it lacks. `identity` is the answer to
    --identity."""
    ranks, is_component = record["point"]["ranks"], "component" in record["point"]
    right = record["verdict"]["status"] != "wrong"
    launch = {"launch_hash": "f" * 16, "identity_hash": short_hash(identity["identity"]), "volatile": {"started_at": now()}}
    hashes = {key: identity[key] for key in ("identity", "machine_hash", "code_hash")}
    more = {
        "cards": {"component": {"name": "fake", "summary": ""}} if is_component else {"variant": {"name": "fake"}},
        "verification": {"ok": right, "checks": [CHECK | {"ok": right}]},
        "harness": {},
        "counters": {"backend": "none"},
        "provenance": launch | hashes,
    }
    if not is_component:
        more |= {
            "resolved": RESOLVED,
            "plan": PLAN | {"rank_s": [0.001] * ranks},
            "cost": {"flops": 1.0, "bytes_sent_per_rank": [0.0] * ranks, "messages_per_rank": [0.0] * ranks},
            "memory": {key: [0.0] * ranks for key in ("local_data_bytes", "plan_bytes", "workspace_bytes")} | {"ratio": 1.0},
        }
        if "samples" in record:
            more["samples"] = {"warmup_s": []} | record["samples"]
    sampling = {key: SAMPLING[key] for key in ("start",)} if is_component else SAMPLING
    return more | record | {key: more[key] for key in ("samples",) if key in more} | {"sampling": sampling | record["sampling"]}
