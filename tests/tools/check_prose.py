#!/usr/bin/env python3
"""check_prose.py [ROOT]: fails on text of the program with words that users of GPUs and networks do not know.

Reads the string literals of app, convlab, include and library, the comments of these and of tests, and the text of
README.md, HACKING.md, CONTRIBUTING.md, docs, classes and models/README.md. Prints FILE:LINE: what is wrong. Two kinds:
terms that are not the field's, and error messages that are too long to read at a glance.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
if ROOT.is_file():
    ROOT = ROOT.parents[2]

# Patterns of private terms, and the words to use instead.
TERMS = [
    (r"\bfirst cache\b", "L1"),
    (r"\bsecond cache\b", "L2"),
    (r"\bcopy (engine|unit)\b", "TMA"),
    (r"\blane[_ ]pairs\b", "nchw16n2c"),
    (r"\bby definition\b", "direct (reference) computation"),
    (r"\bpoison\w*\b", "never written, uninitialized"),
    (r"\bin turns\b", "interleaved"),
    (r"\bsomebody else'?s?\b", "another user's, foreign"),
    (r"\bto and fro\b", "there and back, or name the copies"),
    (r"\bits like\b", "similar"),
    (r"\b(is|are|was|were) (not )?told\b", "gets, is reported"),
    (r"\bhears?\b", "gets, is notified"),
    (r"\bknows? no\b", "does not support"),
    (r"\btakes? no\b(?! longer)", "does not accept, is not supported"),
    (r"(?<!there )\b(is|are) no (?!longer\b|more\b)[a-z]", "is not a"),
    (r"\bis given for\b", "is"),
    (r"\bbe it\b", "whether"),
    (r"\bof which\b", "two sentences"),
    (r"\buninitialis|\bsynchronis|\boptimis|\bnormalis|\bquantis|\bneighbour|\bbehaviour\b|\bcolour|\bserialis",
     "American spelling"),
]
KEYWORDS = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in TERMS]
KEYWORDS_OF_COMMENTS = [each for each in KEYWORDS if each[1] != "nchw16n2c"]  # comments name layouts as the code does

MOST_CHARACTERS = 160  # of an error message, without its arguments
ERRORS = re.compile(r"\b(bad_input|unavailable|wrong_result)\s*\(")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def files(folders, suffixes):
    for folder in folders:
        path = ROOT / folder
        if path.is_file():
            yield path
        for file in sorted(path.rglob("*")):
            if file.suffix in suffixes and file.is_file():
                yield file


def without_comments(text):
    """Returns the text with its comments blanked. Lines keep their numbers, and literals stay."""
    pattern = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return pattern.sub(lambda match: match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0]), text)


def term_findings(where, text, keywords=KEYWORDS):
    for pattern, instead in keywords:
        match = pattern.search(text)
        if match:
            yield f"{where}: '{match[0]}': write {instead}"


def check_literals(path, found):
    text = without_comments(path.read_text(errors="replace"))
    name = path.relative_to(ROOT)
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#"):
            continue
        for literal in LITERAL.findall(line):
            if " " in literal:  # a sentence, not a name
                found.extend(term_findings(f"{name}:{number}", literal))
    for call in ERRORS.finditer(text):
        # The first argument: adjacent literals.
        first = re.match(r'\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)', text[call.end():])
        if first is None:
            continue
        message = "".join(LITERAL.findall(first[1]))
        if len(message) > MOST_CHARACTERS:
            number = text.count("\n", 0, call.start()) + 1
            found.append(f"{name}:{number}: an error message of {len(message)} characters; at most {MOST_CHARACTERS}")


def check_markdown(path, found):
    name = path.relative_to(ROOT)
    in_code = False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            found.extend(term_findings(f"{name}:{number}", re.sub(r"`[^`]*`", "", line)))


def check_comments(path, found):
    name = path.relative_to(ROOT)
    for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
        comment = re.search(r"//.*|^\s*/?\*.*", LITERAL.sub('""', line))
        if comment:
            found.extend(term_findings(f"{name}:{number}", comment[0], KEYWORDS_OF_COMMENTS))


def main():
    found = []
    for path in files(["app", "convlab", "include", "library"], {".cc", ".h", ".cu", ".cuh"}):
        check_literals(path, found)
    for path in files(["README.md", "HACKING.md", "CONTRIBUTING.md", "docs", "classes", "models/README.md"], {".md"}):
        check_markdown(path, found)
    for path in files(["app", "convlab", "include", "library", "tests"], {".c", ".cc", ".h", ".hpp", ".cu", ".cuh"}):
        if "data" not in path.relative_to(ROOT).parts:  # students' kernel files
            check_comments(path, found)
    print("\n".join(found))
    print(f"check_prose: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
