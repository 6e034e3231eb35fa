"""How Sphinx makes the site. prepare.py made the folder that it reads: a copy of the repository's Markdown, in the same places."""

import sys
from pathlib import Path

here = Path(__file__).resolve().parent
root = here.parent
work = root / "build/site"
sys.path.insert(0, str(here))

project = "convlab"
author = "the convlab authors"
copyright = author
extensions = ["myst_parser", "breathe", "convlab_site"]
root_doc = "index"
exclude_patterns = ["README.md"]

# GitHub's rules for the names of headings.
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
smartquotes = False  # of --option they make a dash
# "source:" is a file of the repository: convlab_site.py makes a page of it.
myst_url_schemes = ("http", "https", "mailto", "source")

breathe_projects = {"convlab": str(work / "doxygen/xml")}
breathe_default_project = "convlab"
breathe_domain_by_extension = {"h": "c"}
# Names of the standards, and of headers that are not ours.
nitpick_ignore_regex = [
    ("c(pp)?:.*", "(u?int[0-9]+_t|size_t|std(::.*)?|convlab|T)"),
    ("cpp:identifier", "convlab_[a-z]+"),
    ("c(pp)?:identifier", "CONVLAB_MAX_RANK"),
]

highlight_language = "text"
pygments_style = "default"
pygments_dark_style = "github-dark"
html_theme = "furo"
html_title = "convlab"
# The second has what prepare.py mended of the theme.
html_static_path = ["static", str(work / "static")]
html_css_files = ["site.css"]
html_extra_path = [str(work / "extra")]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
