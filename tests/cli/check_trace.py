"""Checks a file of `clematis train --trace`: python check_trace.py FILE RANKS FIRST LAST

The events have the fields of Chrome's format, spans of a lane nest, every step has as many kernels
as the program counted, and the sums between ranks overlap on the common clock.
"""
import collections
import json
import sys

FIELDS = {"ph", "name", "cat", "pid", "tid", "ts", "dur", "args"}
CATEGORIES = {"step", "loader", "compute", "copy", "kernel"}
CLOCK_NS = 200_000  # a device's clock against the host's


def check(condition, *words):
    if not condition:
        print("FAILED:", *words)
        sys.exit(1)


def nanoseconds(microseconds):
    return round(1000 * microseconds)


def read(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    names, spans = {}, []
    for event in events:
        if event["ph"] == "M":
            names[event["name"], event["pid"], event["tid"]] = event["args"]["name"]
            continue
        check(event["ph"] == "X" and set(event) == FIELDS, "fields", event)
        event["begin"] = nanoseconds(event["ts"])
        event["end"] = event["begin"] + nanoseconds(event["dur"])
        check(event["begin"] <= event["end"], "goes back", event)
        spans.append(event)
    return names, spans


def check_lane(spans):
    """Each span lies inside the one that is open, or behind it."""
    open_spans = []
    for span in sorted(spans, key=lambda s: (s["begin"], -s["end"])):
        while open_spans and open_spans[-1]["end"] <= span["begin"]:
            open_spans.pop()
        fits = not open_spans or span["end"] <= open_spans[-1]["end"]
        check(fits, span, "crosses", open_spans[-1:])
        open_spans.append(span)


def check_steps(rank, spans, first, last):
    steps = [s for s in spans if s["cat"] == "step"]
    check([s["args"]["step"] for s in steps] == list(range(first, last + 1)), rank, "steps", steps)
    for step in steps:
        number = step["args"]["step"]
        kernels = [s for s in spans if s["cat"] == "kernel" and s["args"].get("step") == number]
        check(len(kernels) == step["args"]["kernels"] > 0, rank, number, len(kernels), step)
        for kernel in kernels:
            check(step["begin"] - CLOCK_NS <= kernel["begin"], kernel, "is before", step)
            check(kernel["end"] <= step["end"] + CLOCK_NS, kernel, "is behind", step)
            check(kernel["args"]["kernel"], kernel)


def check_sums(by_rank, first, last):
    sums = collections.defaultdict(list)
    for spans in by_rank.values():
        for span in spans:
            if span["name"].startswith("all-reduce"):
                sums[span["name"], span["args"]["step"]].append(span)
                check(span["args"]["bytes"] > 0, span)
    check({step for _, step in sums} == set(range(first, last + 1)), "sums", list(sums))
    for key, spans in sums.items():
        check(len(spans) == len(by_rank), key, spans)
        check(max(s["begin"] for s in spans) <= min(s["end"] for s in spans), "apart", spans)


def main():
    path, ranks, first, last = sys.argv[1], *map(int, sys.argv[2:])
    names, spans = read(path)
    by_rank, lanes = collections.defaultdict(list), collections.defaultdict(list)
    for span in spans:
        by_rank[span["pid"]].append(span)
        lanes[span["pid"], span["tid"]].append(span)
        check(("thread_name", span["pid"], span["tid"]) in names, "no name for", span)
    check(sorted(by_rank) == list(range(ranks)), "ranks", list(by_rank))
    for rank, own in by_rank.items():
        check(names["process_name", rank, 0].startswith("rank %d on " % rank), names)
        check(CATEGORIES <= {s["cat"] for s in own}, "categories of rank", rank)
        check_steps(rank, own, first, last)
    for lane in lanes.values():
        check_lane(lane)
    if ranks > 1:
        check_sums(by_rank, first, last)
    kernels = {s["name"] for s in spans if s["cat"] == "kernel"}
    check({"conv2d.fwd", "conv2d.bwd_w", "loss", "optimizer"} <= kernels, kernels)
    print("%d ranks, %d spans: fine" % (ranks, len(spans)))


main()
