"""Follows the recipes of HACKING.md ("Add a kernel, an operator, a fusion, a format, a device") in a copy of the tree.

    python3 tests/tools/recipes.py [RECIPE...]

Each folder of tests/recipes has what its recipe adds: new files, and a .recipe with one instruction a line:

    most N                 the change has at most N files, apart from tests, lists of problems and documents
    new FILE from SOURCE   a new file: a copy of SOURCE, which is beside the .recipe
    in FILE                the edits that follow are of this file
    before, after          adds lines (>) before or after the lines that contain a text (<), which the file has once
    replace                replaces the text (<) by another (>)
    says FILE: TEXT        with the first edited file of the recipe alone, the compiler says TEXT about FILE
    test NAME [FILTER]     this test program passes
    runs COMMAND           the command succeeds and prints the texts of the lines (|) that follow
    fails COMMAND          the same, but it fails

All recipes are applied, each as a commit, and built at once. Exit status 1 if a step fails; 77 if git, cmake or ninja
is missing, or the sources are not in a git repository.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ["kernel", "operator", "fusion", "format", "device"]
BUILD = Path("build/cpu")
# Kernels for this machine and simt: less to compile than in a complete build.
OPTIONS = ["-DCONVLAB_SIMT=ON", "-DCONVLAB_INSTRUCTION_SETS=avx2", "-DCONVLAB_CUDA=OFF", "-DCONVLAB_CLASS=OFF"]
TREE_TEST = "layers_test"  # rules that all files keep to
OTHERS = ("tests/", "docs/", "shapes/")  # what `most` does not count


class Failure(Exception):
    """A step of a recipe that does not work as HACKING.md says."""


@dataclass
class Edit:
    file: str
    kind: str  # before, after, replace
    anchor: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


@dataclass
class Command:
    succeeds: bool
    words: list[str]
    prints: list[str] = field(default_factory=list)


@dataclass
class Recipe:
    name: str
    most: int = 0
    new: dict[str, str] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    says: list[tuple[str, str]] = field(default_factory=list)
    tests: list[list[str]] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)


def read_recipe(name: str) -> Recipe:
    recipe, file = Recipe(name), ""
    path = ROOT / "tests/recipes" / name / f"{name}.recipe"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        word, _, rest = line.partition(" ")
        if word == "most":
            recipe.most = int(rest)
        elif word == "new":
            target, _, source = rest.partition(" from ")
            recipe.new[target] = source
        elif word == "in":
            file = rest
        elif word in ("before", "after", "replace"):
            recipe.edits.append(Edit(file, word))
        elif word == "<":
            recipe.edits[-1].anchor.append(rest)
        elif word == ">":
            recipe.edits[-1].lines.append(rest)
        elif word == "says":
            recipe.says.append(tuple(rest.split(": ", 1)))
        elif word == "test":
            recipe.tests.append(rest.split())
        elif word in ("runs", "fails"):
            recipe.commands.append(Command(word == "runs", shlex.split(rest)))
        elif word == "|":
            recipe.commands[-1].prints.append(rest)
        elif line and not line.startswith("#"):
            sys.exit(f"{path}:{number}: unknown instruction '{word}'")
    return recipe


def edited(text: str, edit: Edit, recipe: str) -> str:
    anchor, lines = "\n".join(edit.anchor), "\n".join(edit.lines)
    count = text.count(anchor)
    if count != 1:
        raise Failure(f"recipe {recipe}: {edit.file} has the anchor {count} times, expected once:\n{anchor}")
    begin = text.index(anchor)
    end = begin + len(anchor)
    if edit.kind == "replace":
        return text[:begin] + lines + text[end:]
    place = text.rfind("\n", 0, begin) + 1 if edit.kind == "before" else text.index("\n", end) + 1
    return text[:place] + lines + "\n" + text[place:]


def apply_edits(recipe: Recipe, edits: list[Edit], tree: Path) -> None:
    for edit in edits:
        path = tree / edit.file
        if not path.exists():
            raise Failure(f"recipe {recipe.name}: {edit.file} does not exist")
        path.write_text(edited(path.read_text(), edit, recipe.name))


def apply_recipe(recipe: Recipe, tree: Path) -> None:
    for target, source in recipe.new.items():
        path = tree / target
        if path.exists():
            raise Failure(f"recipe {recipe.name}: {target} exists already")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tests/recipes" / recipe.name / source, path)
    apply_edits(recipe, recipe.edits, tree)


def output_of(words: list[str], folder: Path) -> tuple[int, str]:
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def require(words: list[str], folder: Path) -> str:
    status, output = output_of(words, folder)
    if status != 0:
        raise Failure(f"{shlex.join(words)}: exit status {status}\n{output[-6000:]}")
    return output


def commit(tree: Path, subject: str) -> None:
    require(["git", "add", "--all"], tree)
    identity = ["-c", "user.name=recipes", "-c", "user.email=recipes@localhost", "-c", "commit.gpgsign=false"]
    require(["git", *identity, "commit", "--quiet", "--no-verify", "-m", subject], tree)


def copy_tree(tree: Path) -> None:
    """Copies the tracked files as they are now, and commits them."""
    for name in require(["git", "ls-files", "-z"], ROOT).split("\0"):
        source = ROOT / name
        if name == "" or not (source.is_symlink() or source.is_file()):
            continue
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, tree / name, follow_symlinks=False)
    require(["git", "init", "--quiet"], tree)
    commit(tree, "Begin")


def syntax_errors(tree: Path, file: str) -> str:
    """Returns what the compiler says about a file, with the flags of its target."""
    path = tree / file
    for entry in json.loads((tree / BUILD / "compile_commands.json").read_text()):
        compiled = Path(entry["file"])
        is_unity = compiled.name.startswith("unity_") and compiled.exists()
        if compiled != path and not (is_unity and f'"{path}"' in compiled.read_text()):
            continue
        words = shlex.split(entry["command"])
        words[words.index("-c") : words.index("-c") + 2] = ["-fsyntax-only", str(path)]
        del words[words.index("-o") : words.index("-o") + 2]
        return output_of(words, Path(entry["directory"]))[1]
    raise Failure(f"{file} is not compiled")


def check_says(recipe: Recipe, tree: Path) -> None:
    """Checks that after the recipe's first edits the compiler names the other places."""
    if not recipe.says:
        return
    first = recipe.edits[0].file
    apply_edits(recipe, [edit for edit in recipe.edits if edit.file == first], tree)
    for file, text in recipe.says:
        errors = syntax_errors(tree, file)
        if text not in errors:
            raise Failure(f"recipe {recipe.name}: with only {first} edited, the compiler does not say '{text}' about "
                          f"{file}\n{errors[:2000]}")  # fmt: skip
    require(["git", "checkout", "--quiet", "."], tree)


def check_count(recipe: Recipe, tree: Path) -> str:
    """Checks how many files the last commit changes, and returns the number as text."""
    files = require(["git", "show", "--name-only", "--format=", "HEAD"], tree).split()
    own = [file for file in files if not file.startswith(OTHERS)]
    if len(own) > recipe.most:
        raise Failure(f"recipe {recipe.name}: {len(own)} files, expected at most {recipe.most}: {' '.join(own)}")
    return f"{len(own)} of code, {len(files) - len(own)} of tests, problems and documents"


def build(recipes: list[Recipe], tree: Path, jobs: int) -> None:
    tests = {test[0] for recipe in recipes for test in recipe.tests}
    output = require(["ninja", "-C", str(BUILD), f"-j{jobs}", "convlab", TREE_TEST, *sorted(tests)], tree)
    warnings = [line for line in output.splitlines() if "warning:" in line]
    if warnings:
        raise Failure("the compiler warns:\n" + "\n".join(warnings))


def check_command(command: Command, tree: Path) -> None:
    words = list(command.words)
    if words[0] == "convlab":
        words[0] = str(tree / BUILD / "bin/convlab")
    status, output = output_of(words, tree)
    if (status == 0) != command.succeeds or status < 0:
        raise Failure(f"{shlex.join(command.words)}: exit status {status}\n{output[-3000:]}")
    for text in command.prints:
        if text not in output:
            raise Failure(f"{shlex.join(command.words)} does not print '{text}':\n{output[-3000:]}")


def check_test(words: list[str], tree: Path) -> None:
    arguments = ["--gtest_brief=1", *(f"--gtest_filter={words[1]}" for _ in words[1:])]
    output = require([str(tree / BUILD / "bin" / words[0]), *arguments], tree)
    if "[  PASSED  ] 0 tests" in output:
        raise Failure(f"{' '.join(words)}: ran no test")


# ONNX files, written field by field: the number of a field, and an integer, a text or a message.


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    text = b""
    while value > 127:
        text += bytes([value & 127 | 128])
        value >>= 7
    return text + bytes([value])


def message(*fields: tuple[int, int | str | bytes]) -> bytes:
    text = b""
    for number, value in fields:
        if isinstance(value, int):
            text += varint(number << 3) + varint(value)
        else:
            content = value.encode() if isinstance(value, str) else value
            text += varint(number << 3 | 2) + varint(len(content)) + content
    return text


def node(op: str, name: str, inputs: list[str], **attributes: int | list[int]) -> bytes:
    fields = [(1, each) for each in inputs] + [(2, f"{name}.y"), (3, name), (4, op)]
    for key, value in attributes.items():
        is_list = isinstance(value, list)
        values = [(8, each) for each in value] if is_list else [(3, value)]
        fields.append((5, message((1, key), *values, (20, 7 if is_list else 2))))
    return message(*fields)


def array(name: str, shape: list[int]) -> bytes:
    count = 1
    for size in shape:
        count *= size
    return message(*((1, size) for size in shape), (2, 1), (8, name), (9, b"\0\0\0\x3d" * count))


def value(name: str, shape: list[int]) -> bytes:
    sizes = message(*((1, message((1, size))) for size in shape))
    return message((1, name), (2, message((1, message((1, 1), (2, sizes))))))


def model(nodes: list[bytes], arrays: list[bytes], output: str, shape: list[int]) -> bytes:
    """A model whose input x and whose output have this shape."""
    graph = message(*((1, each) for each in nodes), (2, "recipe"), *((5, each) for each in arrays),
                    (11, value("x", shape)), (12, value(output, shape)))  # fmt: skip
    return message((1, 8), (7, graph), (8, message((2, 13))))


def write_models(folder: Path) -> None:
    shape = [1, 16, 8, 8]
    same = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    gate = [node("Conv", "conv1", ["x", "w"], **same), node("GlobalAveragePool", "mean", ["conv1.y"]),
            node("Sigmoid", "sigmoid", ["mean.y"]), node("Mul", "gate", ["conv1.y", "sigmoid.y"]),
            node("Relu", "relu", ["gate.y"]), node("Conv", "conv2", ["relu.y", "w"], **same)]  # fmt: skip
    (folder / "gate.onnx").write_bytes(model(gate, [array("w", [16, 16, 3, 3])], "conv2.y", shape))
    (folder / "hardmax.onnx").write_bytes(model([node("Hardmax", "hardmax", ["x"], axis=1)], [], "hardmax.y", shape))
    (folder / "relu.onnx").write_bytes(model([node("Relu", "relu", ["x"])], [], "relu.y", shape))


def follow(recipes: list[Recipe], tree: Path, jobs: int) -> int:
    """Follows the recipes in an empty folder. Returns how many failed."""
    copy_tree(tree)
    require(["cmake", "--preset", "cpu", *OPTIONS], tree)
    require(["ninja", "-C", str(BUILD), "convlab_generated"], tree)
    counts = {}
    for recipe in recipes:
        check_says(recipe, tree)
        apply_recipe(recipe, tree)
        commit(tree, f"Add a {recipe.name}")
        counts[recipe.name] = check_count(recipe, tree)
    build(recipes, tree, jobs)
    write_models(tree / "build")
    check_test([TREE_TEST], tree)
    require([sys.executable, "tests/tools/check_prose.py"], tree)
    failed = 0
    for recipe in recipes:
        done = [f"compiler names {len(recipe.says)} other files"] if recipe.says else []
        try:
            for command in recipe.commands:
                check_command(command, tree)
                done.append(shlex.join(command.words) + ("" if command.succeeds else " (an error, as expected)"))
            for test in recipe.tests:
                check_test(test, tree)
                done.append(" ".join(test))
        except Failure as failure:
            failed += 1
            print(f"{recipe.name}: FAILED: {failure}")
        else:
            print(f"{recipe.name}: {counts[recipe.name]}; {', '.join(done)}")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="*", metavar="RECIPE", help=f"{', '.join(RECIPES)} (default: all)")
    parser.add_argument("--folder", type=Path, help="an empty folder for the copy, which is kept (default: a temporary one)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compilers at once (default: one per processor)")
    options = parser.parse_args()
    for name in options.recipes:
        if name not in RECIPES:
            parser.error(f"unknown recipe '{name}': expected {', '.join(RECIPES)}")
    missing = [tool for tool in ("git", "cmake", "ninja") if shutil.which(tool) is None]
    if missing or not (ROOT / ".git").exists():
        print(f"SKIPPED: {missing[0]} is missing" if missing else f"SKIPPED: {ROOT} is not a git repository")
        return 77
    recipes = [read_recipe(name) for name in options.recipes or RECIPES]
    with tempfile.TemporaryDirectory(prefix="convlab_recipes_") as temporary:
        tree = (options.folder or Path(temporary)).resolve()
        tree.mkdir(parents=True, exist_ok=True)
        if any(tree.iterdir()):
            parser.error(f"{tree} is not empty")
        try:
            return 1 if follow(recipes, tree, options.jobs) else 0
        except Failure as failure:
            print(failure)
            return 1


if __name__ == "__main__":
    sys.exit(main())
