"""Prove that a review's search is complete after kills, and that its recording is replayed or refused.

    python tests/benchmarks/review_killed.py
    python tests/benchmarks/review_killed.py --records 5000 --kills 1

A sandbox in a separate process serves generated records. `review search` is killed at random moments, then runs to
its end with `--record`. Its records are compared with the PMIDs that the sandbox serves. The recordings are replayed
without the sandbox, each with separate folders, and with single flipped bits. It takes about four minutes.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from network import COMMAND, FIRST, FOLDERS, sandbox

QUERY = "all[sb]"
DAMAGED = 9
REPLAYS = 2


class Home:
    """Folders of a new user, with the commands of this user."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        places = {name: str(folder / name) for name in (*FOLDERS, "HOME")}
        inherited = {name: value for name, value in os.environ.items() if name != "NCBI_API_KEY"}
        self.environment = {**inherited, **environment, **places}
        for place in places.values():
            Path(place).mkdir(parents=True)

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """Start a command in the folder."""
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *arguments: str) -> tuple[int, bytes, bytes]:
        """Run a command to its end; return its exit status, its output and its messages."""
        process = self.start(*arguments)
        output, messages = process.communicate()
        return process.returncode, output, messages

    def init(self) -> None:
        """Create a review whose strategy finds all records."""
        (self.folder / "strategy.txt").write_text(f"1. {QUERY}\n", encoding="utf-8")
        status, _, messages = self.run("review", "init", "review", "--strategy", "strategy.txt", "--dialect", "pubmed")
        if status:
            sys.exit(messages.decode())


def kill_search(home: Home, chance: random.Random) -> float:
    """Start the search, kill it while it downloads, and return the seconds that it ran."""
    seconds = chance.uniform(3, 9)
    process = home.start("review", "search", "--folder", "review")
    try:
        process.wait(seconds)
        sys.exit(f"The search ended before it was killed: exit {process.returncode}.")
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    return seconds


def check_records(home: Home, expected: int) -> bool:
    """Print the number of records of the review and of the missing ones; return whether each record is there once."""
    lines = (home.folder / "review" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    found = Counter(json.loads(line)["pmid"] for line in lines)
    wanted = {str(FIRST + number) for number in range(expected)}
    missing, repeated = wanted - found.keys(), [pmid for pmid, count in found.items() if count > 1]
    foreign = found.keys() - wanted
    print(f"records {len(lines):,}, missing {len(missing):,}, duplicates {len(repeated):,}, others {len(foreign):,}")
    return not missing and not repeated and not foreign


def flip_bits(home: Home, recording: Path, count: int, chance: random.Random) -> int:
    """Replay copies of a recording that each have one flipped bit; return how many were refused as damaged."""
    content, refused = recording.read_bytes(), 0
    for _ in range(count):
        place, bit = chance.randrange(len(content)), chance.randrange(8)
        damaged = home.folder / "damaged.ekz"
        damaged.write_bytes(content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :])
        status, output, messages = home.run("search", QUERY, "--all", "-f", "csv", "--replay", str(damaged))
        if status == DAMAGED and b"damaged" in messages and not output:
            refused += 1
        else:
            print(f"bit {bit} of byte {place:,}: exit {status}, {len(output):,} bytes of output")
    return refused


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=60_000)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--bits", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    folder = Path(tempfile.mkdtemp())
    try:
        return measure(options, chance, folder)
    finally:
        shutil.rmtree(folder)


def measure(options: argparse.Namespace, chance: random.Random, folder: Path) -> int:
    """Run all steps, print their figures, and return the exit status."""
    review, table = folder / "review.ekz", folder / "table.ekz"
    with sandbox("--records", str(options.records)) as environment:
        home = Home(folder / "first", environment)
        home.init()
        killed = [kill_search(home, chance) for _ in range(options.kills)]
        started = time.monotonic()
        status, report, messages = home.run(
            *("review", "search", "--folder", "review", "--json", "--record", str(review))
        )
        print(f"killed after {', '.join(f'{one:.1f}' for one in killed)} s; then exit {status}", end="")
        print(f" in {time.monotonic() - started:.0f} s")
        if status:
            sys.exit(messages.decode())
        certificate = json.loads(report)["search"]["certificate"]
        is_right = check_records(home, options.records) and certificate["count"] == options.records
        print(f"certificate: count {certificate['count']:,}; complete {certificate.get('complete')}")
        status, rows, messages = home.run("search", QUERY, "--all", "-f", "csv", "--record", str(table))
        if status:
            sys.exit(messages.decode())
        print(f"search --all: {len(rows.splitlines()) - 1:,} rows")
    print(f"recordings: {review.stat().st_size:,} and {table.stat().st_size:,} bytes")
    original = (home.folder / "review" / "records.jsonl").read_bytes()
    for number in range(REPLAYS):
        other = Home(folder / f"replay{number}", {})
        other.init()
        status, output, _ = other.run("review", "search", "--folder", "review", "--json", "--replay", str(review))
        same = [status == 0, output == report, (other.folder / "review" / "records.jsonl").read_bytes() == original]
        status, output, _ = other.run("search", QUERY, "--all", "-f", "csv", "--replay", str(table))
        same += [status == 0, output == rows]
        print(f"replay {number + 1} on another HOME: {'identical' if all(same) else f'differs {same}'}")
        is_right = is_right and all(same)
    refused = flip_bits(Home(folder / "flipped", {}), table, options.bits, chance)
    print(f"flipped bits refused: {refused} of {options.bits}")
    return 0 if is_right and refused == options.bits else 1


if __name__ == "__main__":
    sys.exit(main())
