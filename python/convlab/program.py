"""The program that the package stands beside."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from convlab._convlab import library_path
from convlab.errors import Error

UNAVAILABLE = 3


def program() -> Path:
    """The program `convlab` of the library that was loaded, in the package or where convlab is installed."""
    library = Path(library_path()).resolve()
    for folder in library.parents:
        for place in (folder / "convlab", folder / "bin" / "convlab"):
            if place.is_file():
                return place
    raise Error(f"cannot find the convlab program next to {library}", UNAVAILABLE)


def main() -> int:
    """The command `convlab` of pip: becomes the program."""
    try:
        path = program()
        os.execv(path, [str(path), *sys.argv[1:]])
    except (Error, OSError) as error:
        print(f"convlab: error: {error}", file=sys.stderr)
    return UNAVAILABLE
