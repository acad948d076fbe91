"""Another framework, kept warm in a process of its own: peer.py ENGINE.

The first line out is the engine's name and version. Then each line in asks for one measurement,
tab-separated: number of repeats, task, arguments; the answer is one line, "ok" and for each repeat
its seconds and those of processors, or "error" and why. An engine is a module engine_ENGINE whose functions are its tasks:
each makes everything ready and returns what is to be timed.
"""
import importlib
import os
import sys
import time


def measure(engine, made, words):
    key = tuple(words[1:])
    if key not in made:
        made.clear()  # the memory of the task before
        made[key] = getattr(engine, words[1])(*words[2:])
        made[key]()
    seconds = []
    for _ in range(int(words[0])):
        begin, busy = time.perf_counter(), time.process_time()
        made[key]()
        seconds += [time.perf_counter() - begin, time.process_time() - busy]
    return seconds


def main():
    # Frameworks print to the standard output; the answers go to the pipe that was there.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    try:
        engine = importlib.import_module("engine_" + sys.argv[1])
    except ImportError as error:
        print("error", error, file=answers)
        return
    print("ok", engine.name(), file=answers)
    made = {}
    for line in sys.stdin:
        try:
            seconds = measure(engine, made, line.rstrip("\n").split("\t"))
            print("ok", *(f"{value:.9f}" for value in seconds), file=answers)
        except Exception as error:  # the other side decides what a failure means
            print("error", type(error).__name__, str(error).replace("\n", " ")[:300], file=answers)


main()
