#!/usr/bin/env python3
"""check_links.py FOLDER: every link and picture of the site's pages leads to a page, a file or a place within a page that is there. Links
to other sites are counted, not followed."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.places.add(value)
            elif name in ("href", "src", "data") and value:
                self.links.append(value)


def main():
    folder = Path(sys.argv[1]).resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    wrong, inside, outside = [], 0, 0
    for path, page in pages.items():
        for link in page.links:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                outside += 1
                if address.scheme not in ("http", "https", "mailto", "data"):
                    wrong.append((path, link, "has a scheme that browsers do not know"))
                continue
            inside += 1
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                wrong.append((path, link, "is not there"))
            elif address.fragment and target in pages and unquote(address.fragment) not in pages[target].places:
                wrong.append((path, link, "names a place that is not on that page"))
    for path, link, what in wrong:
        print(f"{path.relative_to(folder)}: {link} {what}", file=sys.stderr)
    print(f"{len(pages)} pages, {inside} links within them, {outside} to elsewhere")
    if wrong or not inside:
        sys.exit(f"{len(wrong)} links are wrong" if wrong else "no links were found")


if __name__ == "__main__":
    main()
