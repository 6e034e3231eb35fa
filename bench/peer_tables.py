#!/usr/bin/env python3
"""Markdown tables of what bench/peers.py saved; docs/peers.md has the tables of all of results/cpu.

    python3 bench/peer_tables.py                      # writes docs/peers.md's
    python3 bench/peer_tables.py --check              # exit status 1 where they would change
    python3 bench/peer_tables.py --show FILE.json     # prints one
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from pages import ROOT, between, publish
from pages import table as markdown

RECORDS = ROOT / "results" / "cpu"
PAGE = ROOT / "docs" / "peers.md"


def is_ours(row: dict) -> bool:
    return "arguments" in row


def table(saved: dict) -> str:
    """Markdown: a line per network, in milliseconds; for convlab also its gain over the fastest peer."""
    names = [row["name"] for row in saved["results"][0]["rows"]]
    rows = []
    for result in saved["results"]:
        fastest = min(row["median_s"] for row in result["rows"] if not is_ours(row))
        cells = [milliseconds(row["median_s"]) + (f" ({fastest / row['median_s']:.2f}x)" if is_ours(row) else "")
                 for row in result["rows"]]  # fmt: skip
        rows.append([result["model"], str(result["images"]), *cells])
    host = saved["machine"]
    versions = [f"{row['name']} {row['version']}" for row in saved["results"][0]["rows"] if "version" in row]
    lines = markdown(["network", "images", *(f"{name}, ms" for name in names)], rows)
    return "\n".join([*lines, "", f"{host['processor']}{', AMX' if host['amx'] else ''}, {saved['results'][0]['threads']} threads, load "
                      f"{host['load_before']:.1f} before, {host['when'][:10]}; {', '.join(versions)}; peers in {saved['peer_math']}"])  # fmt: skip


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.{0 if seconds >= 0.1 else 1 if seconds >= 0.01 else 3}f}"


def write(check: bool) -> int:
    """Writes the page's tables of all saved measurements; 1 if `check` and they would change."""
    tables = [table(json.loads(path.read_text())) for path in sorted(RECORDS.glob("*.json"))]
    return publish({PAGE: between(PAGE.read_text(), "peers", ["\n\n".join(tables)])}, check)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 where docs/peers.md would change")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print the table of a saved measurement, and no more")
    args = parser.parse_args()
    if args.show:
        print(table(json.loads(args.show.read_text())))
        return 0
    return write(args.check)


if __name__ == "__main__":
    sys.exit(main())
