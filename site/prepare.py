#!/usr/bin/env python3
"""prepare.py ROOT WORK PROGRAM: makes the folder that Sphinx reads, WORK/source. It has the repository's Markdown in the same places, so
that links between documents stay as they are; site's pages at its root; the reference of commands, made from their --help; and the
pictures that commands in gallery.md draw."""

import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Documents and pictures that become part of the site.
DOCUMENTS = ("README.md", "HACKING.md", "CONTRIBUTING.md", "CHANGELOG.md", "models/README.md", "fuzz/README.md", "classes/*/README.md",
             "docs/*/*.md", "docs/*/*.svg", "docs/*/images/*", "bench/pages/*.md", "results/ablation/*.svg")
PICTURES = (".png", ".svg")
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def repository_files(root):
    """Relative paths of all files, without what is built and what is hidden."""
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in ("build", "__pycache__", "shared")]
        for name in files:
            yield posixpath.relpath(os.path.join(folder, name), root)


def is_text(path):
    with open(path, "rb") as file:
        return b"\0" not in file.read(4096)


class Tree:
    def __init__(self, root, source):
        self.root, self.source = root, source
        self.documents = sorted(path.relative_to(root).as_posix() for pattern in DOCUMENTS for path in root.glob(pattern))

    def target(self, document, address):
        """Where a link of a document leads on the site: a document's own address, or the page of a file."""
        if ":" in address:
            return address
        name = posixpath.normpath(posixpath.join(posixpath.dirname(document), address))
        if name == "README.md":
            return posixpath.relpath("index.md", posixpath.dirname(document) or ".")
        path = self.root / name
        if name in self.documents or not path.exists():  # of what is not there, Sphinx tells
            return address
        if not path.is_file():
            sys.exit(f"{document}: {address} is a folder, of which the site has no page; link to a file in it")
        if not is_text(path):
            sys.exit(f"{document}: {address} is no text, and the site has no page of it")
        return name if path.suffix == ".svg" else "source:" + name

    def linked(self, document, text):
        """The document with the site's links."""
        lines, fenced = [], False
        for line in text.splitlines(keepends=True):
            fenced ^= line.lstrip().startswith("```")
            if not fenced and not line.startswith("    "):
                line = LINK.sub(lambda match: f"]({self.target(document, match[1])}{match[2] or ''})", line)
            lines.append(line)
        return "".join(lines)

    def copy(self):
        for name in self.documents:
            place = self.source / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith(".md"):
                place.write_text(self.linked(name, (self.root / name).read_text(encoding="utf-8")), encoding="utf-8")
            else:
                shutil.copyfile(self.root / name, place)
        for page in (self.root / "site").glob("*.md"):
            shutil.copyfile(page, self.source / page.name)


def help_of(program, *command):
    result = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"convlab {' '.join(command)} --help ended with {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def parts_of(text):
    """Of a help: what the command does, the usage, sections with their (name, description) pairs, and the last lines."""
    lines = text.splitlines()
    sections, current, last = {}, None, []
    for line in lines[1:]:
        if line.startswith("Usage: "):
            usage = line.removeprefix("Usage: ")
        elif re.fullmatch(r"[A-Z][a-z ]*:", line):
            current = sections.setdefault(line[:-1], [])
        elif not line.startswith(" "):
            current = None
            if line:
                last.append(line)
        elif current is not None:
            match = re.fullmatch(r"  (\S.*?)(?:  +(\S.*))?", line)
            if line.startswith(" " * 28):
                current[-1] = (current[-1][0], (current[-1][1] + " " + line.strip()).strip())
            elif len(line) > 30 and line[29] == " " and line[30] != " ":  # a name that fills its column
                current.append((line[2:29].strip(), line[30:]))
            else:
                current.append((match[1], match[2] or ""))
    return lines[0], usage, sections, last


def escaped(text):
    return re.sub(r"([\\`*_{}\[\]<>#|$~])", r"\\\1", text)


def command_page(program, command, level):
    """A section of the reference; commands in it are sections of their own."""
    does, usage, sections, last = parts_of(help_of(program, *command))
    yield f"{'#' * level} convlab {' '.join(command)}\n\n{escaped(does)}.\n\n```bash\n{usage}\n```\n\n"
    for name, rows in sections.items():
        if name == "Subcommands":
            continue
        if name == "Examples":
            examples = "\n".join(" ".join(part for part in row if part) for row in rows)
            yield f"```bash\n{examples}\n```\n\n"
            continue
        for what, text in rows:
            if what.startswith("-h,--help"):
                continue
            required = what.endswith(" REQUIRED")
            words = what.removesuffix(" REQUIRED").split(" ")
            if len(words) > 1 and words[0] == words[1]:  # CLI11 names a positional's type, too
                del words[1]
            what = " ".join(words).replace("`", "'")
            yield f"`{what}`{' (required)' if required else ''}\n: {escaped(text) or '…'}\n\n"
    for line in last:
        if not line.startswith("'convlab"):
            yield escaped(line) + "\n\n"
    for name, _ in sections.get("Subcommands", []):
        yield from command_page(program, [*command, name], level + 1)


def write_commands(program, place):
    does, _, sections, _ = parts_of(help_of(program))
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    commands = sections["Subcommands"]
    if not commands:
        sys.exit("convlab --help names no commands")
    text = f"# Commands\n\n{does}. This page is what `--help` of each command says, in version {version.split()[-1]}.\n\n"
    text += "| command | what it does |\n|---|---|\n"
    text += "".join(f"| [`{name}`](#convlab-{name.replace('.', '')}) | {escaped(what)} |\n" for name, what in commands)
    text += ("\nThe exit status is 0 where all is done and right, 1 where a result is wrong, 2 for bad usage or bad input, and 3 where the "
             "device, kernel or library that was asked for is not there.\n\n")
    text += "".join("".join(command_page(program, [name], 2)) for name, _ in commands)
    place.write_text(text, encoding="utf-8")


def draw_pictures(root, work, program, gallery):
    """Runs the commands that the gallery shows, in WORK/made; what they draw becomes a part of the site, pages beside it."""
    made, extra, pictures = work / "made", work / "extra", work / "source/made"
    for folder in (made, extra, pictures):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for name in ("bench", "models", "shapes", "results"):
        (made / name).symlink_to(root / name)
    for line in gallery.read_text(encoding="utf-8").splitlines():
        if not line.startswith("    convlab "):
            continue
        command = line.split("#")[0].split()
        result = subprocess.run([program, *command[1:]], cwd=made, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"gallery.md: {' '.join(command)} ended with {result.returncode}: {result.stderr.strip()}")
    for path in made.iterdir():
        if path.suffix in PICTURES:
            shutil.copyfile(path, pictures / path.name)
        elif path.suffix == ".html":
            shutil.copyfile(path, extra / path.name)


def mend_theme(static):
    """Debian 12's furo is not bundled: its script is a module that a page from a disk may not load, its style sheet asks a web server of
    Debian's for normalize.css, and has lost what makes pages dark where the system is. Files here take the place of the theme's."""
    import furo

    theme = Path(furo.__file__).parent / "theme/furo/static"
    shutil.rmtree(static, ignore_errors=True)
    script = (theme / "scripts/furo.js").read_text(encoding="utf-8")
    first, _, rest = script.partition("\n")
    if first.startswith("import Gumshoe"):
        (static / "scripts").mkdir(parents=True)
        gumshoe = (theme / "scripts/gumshoe-patched.js").read_text(encoding="utf-8")
        (static / "scripts/furo.js").write_text(f"{gumshoe}\n{rest}", encoding="utf-8")
    style = (theme / "styles/furo.css").read_text(encoding="utf-8")
    asked = re.search(r"@import url\((/javascript/[^)]*)\);", style)
    if asked:
        (static / "styles").mkdir(parents=True)
        style = style.replace(asked[0], Path("/usr/share" + asked[1]).read_text(encoding="utf-8"))
    dark = re.search(r'body\[data-theme="dark"\] \{([^}]*)\}', style)
    if asked and dark and "prefers-color-scheme" not in style:
        style += f'\n@media screen and (prefers-color-scheme: dark) {{\n  body:not([data-theme="light"]) {{{dark[1]}}}\n}}\n'
    if asked:
        (static / "styles/furo.css").write_text(style, encoding="utf-8")


def main():
    root, work, program = (Path(argument).resolve() for argument in sys.argv[1:])
    source = work / "source"
    source.mkdir(parents=True)
    Tree(root, source).copy()
    mend_theme(work / "static")
    write_commands(program, source / "commands.md")
    draw_pictures(root, work, program, root / "site/gallery.md")


if __name__ == "__main__":
    main()
