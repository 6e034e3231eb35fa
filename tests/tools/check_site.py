#!/usr/bin/env python3
"""Tests each page of the documentation's site in headless Chromium, as a reader would see it.

    check_site.py build/site/html [--page docs/guide/class.html ...] [--screenshots FOLDER]

Checks at 1400 and 390 pixels, light and dark: no console messages, no requests except for the site's files, every image
loaded, nothing wider than the screen unless it scrolls in its own box, and enough contrast between text and background.
The search must find a command. Needs Playwright (python3 -m pip install playwright) and Chromium (Debian's package
chromium, or `python3 -m playwright install chromium`); without them it prints SKIPPED and exits with 77.
"""

import argparse
import pathlib
import sys

from check_report import chromium

WIDTHS = (1400, 390)
LEAST_CONTRAST = 4.5  # of text, from WCAG level AA

# Elements wider than the screen that are in no scrolling box.
TOO_WIDE = """() => [...document.querySelectorAll('body *')].filter(element => {
  const box = element.getBoundingClientRect();
  if (box.width === 0 || box.right <= innerWidth + 1) return false;
  for (let each = element; each; each = each.parentElement) {
    const style = getComputedStyle(each);
    const page = ['HTML', 'BODY', 'ARTICLE'].includes(each.tagName) || each.matches('.page, .main, .content');
    if (each !== element && !page && ['auto', 'scroll'].includes(style.overflowX)) return false;
    if (style.position === 'fixed' || style.visibility === 'hidden') return false;
  }
  return true;
}).slice(0, 3).map(element => element.tagName + ': ' + element.textContent.trim().slice(0, 40))"""

BROKEN = "() => [...document.images].filter(image => image.complete && !image.naturalWidth).map(image => image.src)"

# Text of the article with too little contrast to the first opaque background behind it.
PALE = """least => {
  const parts = text => (text.match(/[0-9.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let each = element; each; each = each.parentElement) {
      const color = parts(getComputedStyle(each).backgroundColor);
      if (color.length < 4 || color[3] > 0.99) return color;
    }
    return [255, 255, 255];
  };
  const seen = {};
  for (const element of document.querySelectorAll('article *')) {
    if (![...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue;
    if (element.closest('.headerlink') || getComputedStyle(element).visibility === 'hidden') continue;
    const [a, b] = [light(parts(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least) seen[element.tagName + '.' + element.className] = `${ratio.toFixed(2)} "${element.textContent.trim().slice(0, 30)}"`;
  }
  return Object.entries(seen).slice(0, 5).map(([name, what]) => name + ': ' + what);
}"""


def listen(page):
    """Records the page's console messages and its requests to other servers from now on."""
    messages = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else messages.append(request.url))
    return messages


def look_at(page, messages, address, name, width, scheme, shots):
    messages.clear()
    page.goto(address)
    wrong = [f"says on the console or asks for {message}" for message in messages]
    wrong += [f"is too wide: {what}" for what in page.evaluate(TOO_WIDE)]
    wrong += [f"has no picture {source}" for source in page.evaluate(BROKEN)]
    wrong += [f"has pale text: {what}" for what in page.evaluate(PALE, LEAST_CONTRAST)]
    if shots:
        page.screenshot(path=shots / f"{name.replace('/', '-').removesuffix('.html')}-{width}-{scheme}.png")
    return [f"{name} at {width}, {scheme}: {what}" for what in wrong]


def finds(page, site, word):
    page.goto((site / "search.html").as_uri() + "?q=" + word)
    page.wait_for_selector("#search-results li a", timeout=10000)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--page", nargs="*", help="these alone, relative to the site")
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    site = options.site.resolve()
    # Reports made by convlab have their own check. Of the source pages, which are all alike, some are enough.
    names = options.page or sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html")
                                   if not path.name.startswith(("report", "genindex", "search")) and "_static" not in path.parts)
    sources = [name for name in names if name.startswith("source/")]
    names = [name for name in names if name not in sources[2:]]
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    wrong = []
    with chromium() as browser:
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
                page = context.new_page()
                messages = listen(page)
                for name in names:
                    wrong += look_at(page, messages, (site / name).as_uri(), name, width, scheme, options.screenshots)
                context.close()
        page = browser.new_page()
        finds(page, site, "ablate")
    for each in wrong:
        print(each)
    print(f"{len(names)} pages, {len(wrong)} faults")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
