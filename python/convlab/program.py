"""Finds the convlab program that belongs to the loaded library, and runs it as pip's command `convlab`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from convlab._convlab import library_path
from convlab.errors import Error

UNAVAILABLE = 3


def program() -> Path:
    """Returns the path of the convlab program that belongs to the loaded library: in the package or next to an
    installed library. Raises Error (status 3) if there is none."""
    library = Path(library_path()).resolve()
    for folder in library.parents:
        for place in (folder / "convlab", folder / "bin" / "convlab"):
            if place.is_file():
                return place
    raise Error(f"cannot find the convlab program next to {library}", UNAVAILABLE)


def main() -> int:
    """The entry point of pip's command `convlab`: replaces this process with the program (exec)."""
    try:
        path = program()
        os.execv(path, [str(path), *sys.argv[1:]])
    except (Error, OSError) as error:
        print(f"convlab: error: {error}", file=sys.stderr)
    return UNAVAILABLE
