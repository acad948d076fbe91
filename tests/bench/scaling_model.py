#!/usr/bin/env python3
"""The cost model of docs/scaling.md: fitted on what `./dev bench scale --json` measured, and the
tables that it predicts.

    scaling_model.py [--data FILE]                 prints the tables
    scaling_model.py [--data FILE] --write PAGE    puts them into the page
    scaling_model.py [--data FILE] --check PAGE    fails where the page has others
"""
import argparse
import json
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "docs", "measured", "scaling.json")

GRADIENT_BYTES = 3989285 * 4  # of the flowers network
BUCKETS = 5
ALONE_BUCKETS = 4  # where the sums are measured with nothing beside them
LAST_BYTES = 23593 * 4  # of them, the last bucket: the convolutions and the figures

# Assumed of the machines that are predicted, not measured.
LATENCY = 25e-6  # one way, between two hosts of one network
CPU_STEP = 66e-3  # batch 32 on two cores, as docs/performance.md has it when nothing else runs
GPU_STEP = 2e-3
BATCH = 32
STRONG_BATCH = 1024


# ---- arithmetic ----


def solve(rows, values):
    """Least squares of relative errors: rows * x = values, by normal equations."""
    scaled = [[x / v for x in row] for row, v in zip(rows, values)]
    size = len(rows[0])
    matrix = [[sum(r[i] * r[j] for r in scaled) for j in range(size)] for i in range(size)]
    right = [sum(r[i] for r in scaled) for i in range(size)]
    for i in range(size):
        best = max(range(i, size), key=lambda k: abs(matrix[k][i]))
        matrix[i], matrix[best] = matrix[best], matrix[i]
        right[i], right[best] = right[best], right[i]
        for k in range(i + 1, size):
            factor = matrix[k][i] / matrix[i][i]
            matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i])]
            right[k] -= factor * right[i]
    result = [0.0] * size
    for i in reversed(range(size)):
        rest = sum(matrix[i][j] * result[j] for j in range(i + 1, size))
        result[i] = (right[i] - rest) / matrix[i][i]
    return result


def solve_positive(rows, values):
    """The same with what would be negative held at zero."""
    active = list(range(len(rows[0])))
    while True:
        found = solve([[row[i] for i in active] for row in rows], values)
        worst = min(range(len(active)), key=lambda i: found[i])
        if found[worst] >= 0 or len(active) == 1:
            result = [0.0] * len(rows[0])
            for i, x in zip(active, found):
                result[i] = max(x, 0.0)
            return result
        del active[worst]


def median(values):
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def errors(pairs):
    """Median and largest relative error of (predicted, measured)."""
    found = [abs(p - m) / m for p, m in pairs]
    return median(found), max(found)


def best_of(function, low, high):
    """The argument of the least value, by ever finer grids."""
    for _ in range(8):
        points = [low + (high - low) * i / 40 for i in range(41)]
        best = min(points, key=function)
        width = (high - low) / 40
        low, high = max(low, best - width), min(high, best + width)
    return best


# ---- the model ----


def volume(ranks):
    """Bytes that a rank sends in a step, and receives."""
    return 2 * (ranks - 1) / ranks * GRADIENT_BYTES


def messages(ranks):
    """Messages that a rank sends for a bucket."""
    return 2 * (ranks - 1)


class Fit:
    """Parameters from rows of hosts that share the cores of one machine."""

    def __init__(self, data):
        self.cores = data["cores"]
        self.rows = [r for r in data["net"] if r["ranks"] > 1]
        if not any(r["rate_mbit"] > 0 for r in self.rows):
            sys.exit("the data have no rows of hosts on slow links: measure as root, with tc")
        self.alone = median([r["step_seconds"]["median"] for r in data["net"] if r["ranks"] == 1])
        self.fit_meetings()
        self.fit_sums()
        self.fit_steps()

    def shared(self, row, of_one):
        """Work of one rank takes so long where all ranks have the same cores."""
        return of_one * max(1.0, row["ranks"] / self.cores)

    def fit_meetings(self):
        plain = [r for r in self.rows if r["rate_mbit"] == 0]
        features = [[1.0, self.shared(r, r["ranks"] - 1), 1e-3 * r["delay_ms"]] for r in plain]
        values = [r["meet_seconds"]["median"] for r in plain]
        self.floor, self.message, self.delays = solve_positive(features, values)
        fitted = (self.floor, self.message, self.delays)
        self.meet_errors = errors(
            (sum(f * x for f, x in zip(fitted, row)), v) for row, v in zip(features, values))

    def fit_sums(self):
        plain = [r for r in self.rows if r["rate_mbit"] == 0]
        known = [2 * self.floor +
                 self.shared(r, ALONE_BUCKETS * messages(r["ranks"])) * self.message
                 for r in plain]
        features = [[self.shared(r, volume(r["ranks"])), 1e-3 * r["delay_ms"]] for r in plain]
        values = [max(r["sum_seconds"]["median"] - k, 1e-4) for r, k in zip(plain, known)]
        self.byte, self.sum_delays = solve_positive(features, values)
        slow = [r for r in self.rows if r["rate_mbit"] > 0]

        def wrong(efficiency):
            self.efficiency = efficiency
            return sum((math.log(self.sum_of(r) / r["sum_seconds"]["median"])) ** 2 for r in slow)

        self.efficiency = best_of(wrong, 0.3, 1.0)
        self.sum_errors = errors((self.sum_of(r), r["sum_seconds"]["median"]) for r in self.rows)
        self.slow_errors = errors((self.sum_of(r), r["sum_seconds"]["median"]) for r in slow)

    def busy_of(self, row, buckets, share):
        """So many buckets with that share of the bytes: processors and the link work at once."""
        sent = share * volume(row["ranks"])
        work = buckets * messages(row["ranks"]) * self.message + sent * self.byte
        rate = row["rate_mbit"] * 1e6 / 8 * self.efficiency
        return max(self.shared(row, work), sent / rate if rate > 0 else 0.0)

    def sum_of(self, row):
        late = self.sum_delays * 1e-3 * row["delay_ms"]
        return 2 * self.floor + late + self.busy_of(row, ALONE_BUCKETS, 1.0)

    def tail_of(self, row):
        """The last bucket: nothing is left that could hide it."""
        late = 2 * self.delays * 1e-3 * row["delay_ms"]
        return 2 * self.floor + late + self.busy_of(row, 1, LAST_BYTES / GRADIENT_BYTES)

    def compute_of(self, row):
        """A step without its sums, as the undisturbed link shows it."""
        same = [r for r in self.rows
                if r["ranks"] == row["ranks"] and r["rate_mbit"] == 0 and r["delay_ms"] == 0]
        return median(
            [r["step_seconds"]["median"] - r["exposed_seconds"]["median"] for r in same])

    def exposed_of(self, row):
        late = self.sum_of(row) - self.hidden * self.compute_of(row)
        return self.tail_of(row) + max(0.0, late)

    def fit_steps(self):
        slow = [r for r in self.rows if r["rate_mbit"] > 0 or r["delay_ms"] > 0]

        def wrong(share):
            self.hidden = share
            return sum((self.step_of(r) / r["step_seconds"]["median"] - 1) ** 2 for r in slow)

        self.hidden = best_of(wrong, 0.0, 1.0)
        self.step_errors = errors((self.step_of(r), r["step_seconds"]["median"]) for r in slow)
        self.exposed_worst = max(
            abs(self.exposed_of(r) - r["exposed_seconds"]["median"]) for r in slow)

    def step_of(self, row):
        return self.compute_of(row) + self.exposed_of(row)


# ---- predictions ----


class Node:
    def __init__(self, name, step, fixed_share, cores, host_work):
        self.name = name
        self.fixed = step * fixed_share
        self.image = step * (1 - fixed_share) / BATCH
        self.cores = cores  # that kernels and sums share; 0: sums have one of their own
        self.host_work = host_work  # of what was measured here

    def compute(self, batch):
        return self.fixed + self.image * batch


def kinds(fit, fixed_share):
    return [Node("two cores, 66 ms", CPU_STEP, fixed_share, fit.cores, 1.0),
            Node("GPU, 2 ms, sums over TCP", GPU_STEP, fixed_share, 0, 1.0),
            Node("GPU, 2 ms, sums cost no processor", GPU_STEP, fixed_share, 0, 0.0)]


class Way:
    """Of summing: latency of a bucket, messages that a node sends for it, bytes that it sends."""

    def __init__(self, latency, sent_messages, sent_bytes):
        self.latency = latency
        self.messages = sent_messages
        self.bytes = sent_bytes

    def work(self, fit, node, buckets, share):
        return node.host_work * (buckets * self.messages * fit.message +
                                 share * self.bytes * fit.byte)

    def time(self, fit, node, rate, buckets, share):
        return self.latency + max(self.work(fit, node, buckets, share), share * self.bytes / rate)


def all_to_all(ranks, rate):
    """The two rounds that are used."""
    return Way(2 * LATENCY, messages(ranks), volume(ranks))


def ring(ranks, rate):
    """Buckets follow each other, so that the way round the ring counts once."""
    return Way(2 * (ranks - 1) * LATENCY, messages(ranks), volume(ranks))


def tree(ranks, rate):
    """Up and down a binary tree: to a parent and two children, a bucket a level."""
    level = LATENCY + 2 * GRADIENT_BYTES / BUCKETS / rate
    return Way(2 * math.ceil(math.log2(ranks)) * level, 3, 3 * GRADIENT_BYTES)


def step_time(fit, node, batch, ranks, rate, method=all_to_all):
    compute = node.compute(batch)
    if ranks == 1:
        return compute
    way = method(ranks, rate)
    part = LAST_BYTES / GRADIENT_BYTES
    stolen = way.work(fit, node, BUCKETS, 1.0) / node.cores if node.cores else 0.0
    early = way.time(fit, node, rate, BUCKETS - 1, 1.0 - part)
    last = way.time(fit, node, rate, 1, part)
    return compute + stolen + last + max(0.0, early - fit.hidden * compute)


SPEEDS = (10, 25, 100, 400)
NODES = (8, 64, 1024)


def bytes_per_second(fit, gbit):
    return gbit * 1e9 / 8 * fit.efficiency


def weak_limit(fit, node, rate):
    """The most nodes, a power of two, with half of the speed of as many single ones."""
    good = [2 ** i for i in range(1, 13)
            if node.compute(BATCH) >= 0.5 * step_time(fit, node, BATCH, 2 ** i, rate)]
    return max(good, default=1)


def strong_limit(fit, node, rate):
    """The number of nodes, a power of two, with the shortest step."""
    counts = [2 ** i for i in range(0, 11)]
    return min(counts, key=lambda r: step_time(fit, node, STRONG_BATCH / r, r, rate))


# ---- tables ----


def ms(seconds):
    value = 1e3 * seconds
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def spread(samples, scale, digits):
    return (f"{samples['median'] * scale:.{digits}f} "
            f"({samples['low'] * scale:.{digits}f}-{samples['high'] * scale:.{digits}f})")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def verdict(is_reached):
    return "reached" if is_reached else "**not reached**"


def goals(data):
    rows = []
    is_busy = data["load_before"] >= 1.5  # others run: clocks tell little of what shares cores
    for entry in data["ranks"]:
        for key, title in (("ranks", "two ranks, half the cores each"),
                           ("halves", "two sub-devices")):
            ratio = entry[key]["ratio"]
            busy = entry["whole"]["busy_seconds"]["median"] / entry[key]["busy_seconds"]["median"]
            judged = busy if is_busy else ratio["median"]
            by = " by processor time" if is_busy else ""
            rows.append([f"{title}, global batch {entry['batch']}", spread(ratio, 100, 1) + " %",
                         "95 %", verdict(judged >= 0.95) + by])
            rows.append([f"the same by processor time, global batch {entry['batch']}",
                         f"{100 * busy:.1f} %", "", ""])
    for entry in data["ranks"]:
        rows.append([f"sum of {ms(entry['sum_seconds']['median'])} ms hidden behind backward, "
                     f"global batch {entry['batch']}", f"{100 * entry['hidden']:.0f} %", "80 %",
                     verdict(entry["hidden"] >= 0.8)])
    wait = data["checkpoint_seconds"]
    rows.append(["training waits for a checkpoint", spread(wait, 1e3, 1) + " ms", "20 ms",
                 verdict(wait["median"] < 0.02)])
    if "start_seconds" in data:
        start = data["start_seconds"]
        rows.append(["launch to first step, three hosts", spread(start, 1, 2) + " s", "10 s",
                     verdict(start["median"] < 10)])
    text = table(["", "median (half within)", "goal", ""], rows)
    return (f"{text}\n\nThe load of the machine was {data['load_before']:.1f} before and "
            f"{data['load_after']:.1f} after the run.")


def speeds(data):
    rows = []
    for entry in data["ranks"]:
        for key, title in (("whole", "one device, all cores"),
                           ("halves", "two sub-devices, half the cores each"),
                           ("ranks", "two ranks, half the cores each")):
            rows.append([str(entry["batch"]), title,
                         spread(entry[key]["images_per_second"], 1, 0),
                         spread(entry[key]["busy_seconds"], 1e3, 1)])
    for entry in data["ranks"]:
        rows.append([str(entry["batch"]), "ms: sum alone; behind the last gradient of both; the "
                     "same with waiting for the other rank",
                     "; ".join(ms(entry[k]["median"])
                               for k in ("sum_seconds", "exposed_seconds", "waited_seconds")),
                     ""])
    return table(["global batch", "", "images/s (half within)", "processor ms a step"], rows)


def links(data, fit):
    rows = []
    for row in data["net"]:
        has_fit = row["ranks"] > 1
        rows.append([str(row["ranks"]), f"{row['delay_ms']:g}",
                     f"{row['rate_mbit']:g}" if row["rate_mbit"] else "",
                     spread(row["step_seconds"], 1e3, 0),
                     ms(fit.step_of(row)) if has_fit else "",
                     spread(row["exposed_seconds"], 1e3, 1) if has_fit else "",
                     spread(row["sum_seconds"], 1e3, 1) if has_fit else "",
                     ms(fit.sum_of(row)) if has_fit else ""])
    return table(["ranks", "delay ms", "Mbit/s", "step ms", "model", "behind the last gradient ms",
                  "sum alone ms", "model"], rows)


def parameters(fit):
    rows = [["a meeting, whatever its size", f"{1e6 * fit.floor:.0f} us"],
            ["processor time of a message, both ends", f"{1e6 * fit.message:.1f} us"],
            ["processor time of a byte sent and received", f"{1e9 * fit.byte:.2f} ns"],
            ["delays that a meeting waits for", f"{fit.delays:.1f}"],
            ["delays that a sum of all gradients waits for", f"{fit.sum_delays:.1f}"],
            ["share of a link's rate that arrives", f"{100 * fit.efficiency:.0f} %"],
            ["share of a step's kernels behind which sums hide", f"{100 * fit.hidden:.0f} %"]]

    def told(pair):
        return f"{100 * pair[0]:.0f} %, {100 * pair[1]:.0f} %"

    wrong = [["meetings", told(fit.meet_errors)], ["sums alone", told(fit.sum_errors)],
             ["of them on slow links", told(fit.slow_errors)],
             ["steps on slow or late links", told(fit.step_errors)]]
    return (table(["parameter", "fitted"], rows) + "\n\n" +
            table(["relative error of the fit", "median, largest"], wrong) +
            f"\n\nWhat is left of the sums behind the last gradient is wrong by "
            f"{ms(fit.exposed_worst)} ms at most.")


def weak(fit, nodes):
    rows = []
    for node in nodes:
        for ranks in NODES:
            row = [node.name, str(ranks)]
            for gbit in SPEEDS:
                step = step_time(fit, node, BATCH, ranks, bytes_per_second(fit, gbit))
                row.append(f"{ms(step)} ms, {100 * node.compute(BATCH) / step:.0f} %")
            rows.append(row)
        rows.append([node.name, "half as good at"] +
                    [str(weak_limit(fit, node, bytes_per_second(fit, g))) for g in SPEEDS])
    return table(["node", "nodes"] + [f"{g} Gbit/s" for g in SPEEDS], rows)


def strong(fit, nodes):
    rows = []
    for node in nodes:
        for ranks in NODES:
            row = [node.name, str(ranks)]
            for gbit in SPEEDS:
                rate = bytes_per_second(fit, gbit)
                step = step_time(fit, node, STRONG_BATCH / ranks, ranks, rate)
                row.append(f"{ms(step)} ms, {node.compute(STRONG_BATCH) / step:.1f}")
            rows.append(row)
        rows.append([node.name, "fastest with"] +
                    [str(strong_limit(fit, node, bytes_per_second(fit, g))) for g in SPEEDS])
    return table(["node", "nodes"] + [f"{g} Gbit/s" for g in SPEEDS], rows)


def methods(fit, nodes):
    rows = []
    for node in nodes:
        for ranks in NODES:
            rate = bytes_per_second(fit, 25)
            rows.append([node.name, str(ranks)] +
                        [ms(step_time(fit, node, BATCH, ranks, rate, method))
                         for method in (all_to_all, ring, tree)])
    return table(["node", "nodes", "two rounds, ms", "ring, ms", "tree, ms"], rows)


def make_blocks(data):
    fit = Fit(data)
    small, large = (data["ranks"][i]["whole"]["busy_seconds"]["median"] for i in (0, 1))
    fixed_share = min(max((2 * small - large) / small, 0.0), 0.5)
    nodes = kinds(fit, fixed_share)
    note = (f"Of a step at batch 32, {100 * fixed_share:.0f} % do not depend on the batch, by the "
            f"processor time of one device at 32 and 64.")
    return {"goals": goals(data), "speeds": speeds(data), "links": links(data, fit),
            "fit": parameters(fit) + "\n\n" + note, "weak": weak(fit, nodes),
            "strong": strong(fit, nodes), "methods": methods(fit, nodes)}


# ---- the page ----


def fill(page, blocks):
    for name, text in blocks.items():
        pattern = re.compile(rf"(<!-- scaling_model: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not pattern.search(page):
            raise SystemExit(f"the page has no place for the table '{name}'")
        page = pattern.sub(lambda m, t=text: m.group(1) + t + "\n" + m.group(2), page)
    return page


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--write", metavar="PAGE")
    parser.add_argument("--check", metavar="PAGE")
    options = parser.parse_args()
    with open(options.data, encoding="utf-8") as file:
        blocks = make_blocks(json.load(file))
    path = options.write or options.check
    if path is None:
        print("\n\n".join(f"{name}\n\n{text}" for name, text in blocks.items()))
        return
    with open(path, encoding="utf-8") as file:
        page = file.read()
    filled = fill(page, blocks)
    if options.write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(filled)
    elif filled != page:
        sys.exit(f"{path} has other tables than {options.data} gives: "
                 f"tests/bench/scaling_model.py --write {path}")


if __name__ == "__main__":
    main()
