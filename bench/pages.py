"""How the scripts here write the saved measurements that documents show, and check them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def between(text: str, name: str, lines: list[str]) -> str:
    """A document with `lines` between its marks `<!-- NAME: ... -->` and `<!-- NAME: to here -->`."""
    begin, end = f"<!-- {name}: ", f"<!-- {name}: to here -->"
    before, rest = text.split(begin, 1)
    mark, rest = rest.split(" -->", 1)
    return "\n".join([f"{before}{begin}{mark} -->", "", *lines, "", end]) + rest.split(end, 1)[1]


def publish(wanted: dict[Path, str], check: bool) -> int:
    """Writes each file's text where it differs. With `check` writes nothing; 1 if something would change."""
    changed = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in changed:
        print(f"{path.relative_to(ROOT)}: {'is not what the Records give' if check else 'written'}")
        if not check:
            path.write_text(wanted[path])
    return int(check and bool(changed))


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)] + ["| " + " | ".join(row) + " |" for row in rows]
