"""What Sphinx does not do by itself: pages of the repository's files, for links and names in the text that lead to them; colors of
code blocks, which name no language in our documents."""

import html
import posixpath
from pathlib import Path

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound

from prepare import is_text, repository_files

ROOT = Path(__file__).resolve().parent.parent
FILES = set(repository_files(ROOT))
SHELL = ("convlab", "./", "build/", "cmake", "ctest", "ninja", "docker", "alias", "DOCKER_BUILDKIT=", "sudo", "git", "python3", "pip")
CPP = ("#include", "#ifdef", "constexpr", "convlab::", "const ", "void ", "__global__")
MOST_BYTES = 200_000


def language_of(text):
    """Of a code block that names none."""
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and all(line.startswith(SHELL + (" ", "#")) for line in lines) and lines[0].startswith(SHELL):
        return "bash"
    if lines and lines[0].startswith(("import ", "from ")):
        return "python"
    return "cpp" if lines and lines[0].startswith(CPP) else "text"


def color_code(app, doctree):
    for block in doctree.findall(nodes.literal_block):
        if block.get("language", "none") in ("none", "default", "text") and "force" not in block:
            block["language"] = language_of(block.astext())


def page_of(name):
    return "source/" + name.replace("/", "-")


def file_named(text, document):
    """The repository's file that code in the text names, from the root or from the document's folder; None if it names none."""
    if "/" not in text:
        return None
    for name in (text, posixpath.normpath(posixpath.join(posixpath.dirname(document), text))):
        if name in FILES and is_text(ROOT / name) and (ROOT / name).stat().st_size <= MOST_BYTES:
            return name
    return None


def link_files(app, doctree, docname):
    wanted = app.env.convlab_files = getattr(app.env, "convlab_files", set())

    def address(name):
        if name.endswith(".md") and name[:-3] in app.env.found_docs:
            return app.builder.get_relative_uri(docname, name[:-3])
        wanted.add(name)
        return app.builder.get_relative_uri(docname, page_of(name))

    for link in doctree.findall(nodes.reference):
        if link.get("refuri", "").startswith("source:"):
            link["refuri"] = address(link["refuri"].removeprefix("source:"))
    for code in list(doctree.findall(nodes.literal)):
        name = file_named(code.astext(), docname)
        if name is None or isinstance(code.parent, (nodes.reference, nodes.title)):
            continue
        link = nodes.reference("", "", internal=True, refuri=address(name))
        code.replace_self(link)
        link += code


def source_pages(app):
    for name in sorted(getattr(app.env, "convlab_files", ())):
        text = (ROOT / name).read_text(encoding="utf-8")
        try:
            lexer = get_lexer_for_filename(name.replace(".cuh", ".h"))
        except ClassNotFound:
            lexer = TextLexer()
        code = highlight(text, lexer, HtmlFormatter(linenos="inline", anchorlinenos=True, lineanchors="line", wrapcode=True))
        body = f"<h1>{html.escape(name)}</h1>\n{code}"
        yield page_of(name), {"title": name, "body": body, "parents": [], "metatags": "", "toc": ""}, "page.html"


def setup(app):
    app.connect("doctree-read", color_code)
    app.connect("doctree-resolved", link_files)
    app.connect("html-collect-pages", source_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
