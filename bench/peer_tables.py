#!/usr/bin/env python3
"""Writes Markdown tables of bench/peers.py's measurements: those of results/cpu, into docs/measured/peers.md.

    python3 bench/peer_tables.py                      # updates docs/measured/peers.md
    python3 bench/peer_tables.py --check              # exits with status 1 if they are out of date
    python3 bench/peer_tables.py --show FILE.json     # prints one
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pages import ROOT, between, publish, read_record
from pages import table as markdown

RECORDS = ROOT / "results" / "cpu"
PAGE = ROOT / "docs/measured/peers.md"


def is_ours(row: dict) -> bool:
    return "arguments" in row


def table(saved: dict) -> str:
    """Returns a Markdown table with a row per network, in milliseconds; for convlab also its speedup over the fastest
    peer.
    """
    names = [row["name"] for row in saved["results"][0]["rows"]]
    rows = []
    for result in saved["results"]:
        fastest = min(row["median_s"] for row in result["rows"] if not is_ours(row))
        cells = [milliseconds(row["median_s"]) + (f" ({fastest / row['median_s']:.2f})" if is_ours(row) else "")
                 for row in result["rows"]]  # fmt: skip
        rows.append([result["model"], str(result["images"]), *cells])
    host = saved["machine"]
    versions = [f"{row['name']} {row['version']}" for row in saved["results"][0]["rows"] if "version" in row]
    ours = [is_ours(row) for row in saved["results"][0]["rows"]]
    lines = markdown(["network", "images", *(f"{name}, ms{' (speedup)' if own else ''}" for name, own in zip(names, ours, strict=True))], rows)
    cpu = host["processor"].replace("(R)", "").replace(" Processor", "")
    return "\n".join([f"{cpu}, {'AMX' if host['amx'] else 'no AMX'}, {saved['results'][0]['threads']} threads, {host['when'][:10]}; {', '.join(versions)}; "
                      f"others in {saved['peer_math']}; system load before the measurement {host['load_before']:.1f}:", "", *lines])  # fmt: skip


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.{0 if seconds >= 0.1 else 1 if seconds >= 0.01 else 3}f}"


def write(check: bool) -> int:
    """Writes the page's tables of all saved measurements. With `check`, returns 1 if they are out of date."""
    tables = [table(read_record(path)) for path in sorted(RECORDS.glob("*.json"))]
    return publish({PAGE: between(PAGE.read_text(), "peers", ["\n\n".join(tables)])}, check)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if docs/measured/peers.md is out of date")
    parser.add_argument("--show", type=Path, metavar="FILE", help="only print the table of a saved measurement")
    args = parser.parse_args()
    if args.show:
        print(table(read_record(args.show)))
        return 0
    return write(args.check)


if __name__ == "__main__":
    sys.exit(main())
