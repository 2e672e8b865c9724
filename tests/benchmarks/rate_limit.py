"""Measure the rate limit with real processes, whose transports send requests to a server that records their arrivals.

    python tests/benchmarks/rate_limit.py
    python tests/benchmarks/rate_limit.py --threads 8 --load 2
    python tests/benchmarks/rate_limit.py --processes 4 --rates 10 --runs 1 --seconds 5

For every number of processes and rate it prints the most arrivals in any one-second window, the share of the limit
that was used ((arrivals - 1) / span / limit, median of the runs) and the longest wait of any process for a slot as a
multiple of its fair share (processes x threads / rate). Exits 1 if a promise is broken: the limit in any window,
93 % use, less than 4 fair shares.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from arrival_server import arrival_server, count_most_in_a_second, keep_cores_busy, start_clients

LEAST_USE = 0.93
MAX_FAIR_SHARES = 4.0


def measure(processes: int, rate: int, seconds: float, threads: int, margins: list[float]) -> tuple[int, float, float]:
    """Run once; return the most arrivals in a window, the use and the longest wait in fair shares."""
    with tempfile.TemporaryDirectory() as folder, arrival_server() as server:
        state_file = str(Path(folder) / "state" / "limiter")
        options = {"state_file": state_file, "per_second": rate, "seconds": seconds, "threads": threads}
        with start_clients(processes, server, **options) as started:
            for client in started:
                client.go()
            for client in started:
                client.finish(seconds + 60)
        times = server.times
        longest = max(wait for client in started for wait in client.waits)
    # how much longer than a second it took until one request more than allowed arrived
    margins += [times[index + rate] - times[index] - 1 for index in range(len(times) - rate)]
    use = (len(times) - 1) / (times[-1] - times[0]) / rate
    return count_most_in_a_second(times), use, longest / (processes * threads / rate)


def main() -> int:
    """Measure every cell of the matrix and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--rates", type=int, nargs="+", default=[3, 10])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--threads", type=int, default=1, help="threads in each process")
    parser.add_argument("--load", type=int, default=0, help="processes that keep the machine busy meanwhile")
    arguments = parser.parse_args()
    kept = True
    with keep_cores_busy(arguments.load):
        print(
            f"{os.cpu_count()} cores, {arguments.runs} runs of {arguments.seconds:g} s, {arguments.load} busy processes"
        )
        print("processes  limit/s  most in 1 s  use median (lowest)  longest wait/fair share  least margin ms")
        for rate in arguments.rates:
            for processes in arguments.processes:
                margins: list[float] = []
                runs = []
                for _ in range(arguments.runs):
                    runs.append(measure(processes, rate, arguments.seconds, arguments.threads, margins))
                    time.sleep(0.2)
                most = max(run[0] for run in runs)
                use = statistics.median(run[1] for run in runs)
                lowest = min(run[1] for run in runs)
                shares = max(run[2] for run in runs)
                least = min(margins, default=float("nan")) * 1000
                good = most <= rate and use >= LEAST_USE and shares < MAX_FAIR_SHARES
                kept = kept and good
                print(
                    f"{processes:9}  {rate:7}  {most:11}  {use:10.1%} ({lowest:.1%})  {shares:23.2f}  {least:15.1f}"
                    f"{'' if good else '  BROKEN'}",
                    flush=True,
                )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
