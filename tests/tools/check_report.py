#!/usr/bin/env python3
"""Tests reports in headless Chromium, as a reader would see them.

    check_report.py path/to/convlab [--page report.html] [--screenshots FOLDER]

Writes a report of a few quick measurements and one of a user's own kernel (or opens --page). Checks at 1400, 768 and
390 pixels, light and dark: no console messages, no requests except for the file itself, every chart drawn, none twice,
no legend entry cut off or duplicated, every table filled, every image loaded, nothing wider than the screen unless it
scrolls in its own box, and no squeezed columns; and all charts again in print. Then it plants such faults in the first
page, and must find each. Needs Playwright (python3 -m pip install playwright) and Chromium (Debian's package chromium,
or `python3 -m playwright install chromium`); without them it prints SKIPPED and exits with 77.
"""

import argparse
import contextlib
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
WIDTHS = (1400, 768, 390)
MOST_ENTRIES = 16  # of a readable legend

# The number of colors on each canvas; an empty one has one.
COLORS = """() => [...document.querySelectorAll('canvas[data-chart]')].map(canvas => {
  const {width, height} = canvas;
  if (!width || !height) return 0;
  const copy = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true});
  copy.drawImage(canvas, 0, 0);
  const pixels = new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer);
  return new Set(pixels).size;
})"""
SPECS = "() => JSON.parse(document.getElementById('charts').textContent)"
# What each chart's legend shows: texts, marks, and the boxes in which they are drawn.
LEGENDS = """() => [...document.querySelectorAll('canvas[data-chart]')].map(canvas => {
  const chart = Chart.getChart(canvas);
  const {legendItems, legendHitBoxes} = chart.legend;
  return {
    title: canvas.getAttribute('aria-label'), width: chart.width, height: chart.height,
    texts: legendItems.map(item => item.text),
    marks: legendItems.map(item => [item.pointStyle, item.fillStyle, item.strokeStyle, item.lineDash].join()),
    boxes: legendHitBoxes.map(({left, top, width, height}) => [left, top, left + width, top + height]),
  };
})"""
# Elements wider than the screen, unless an enclosing box scrolls them.
TOO_WIDE = """() => [...document.querySelectorAll('body *')].filter(element => {
  if (element.getBoundingClientRect().right <= innerWidth + 0.5) return false;
  for (let box = element.parentElement; box; box = box.parentElement) {
    if (['auto', 'scroll'].includes(getComputedStyle(box).overflowX)) return false;
  }
  return true;
}).slice(0, 5).map(element => `${element.tagName} “${element.textContent.slice(0, 50)}”`)"""
EMPTY_TABLES = """() => [...document.querySelectorAll('table')]
  .filter(table => !table.tBodies[0]?.rows.length || !table.tBodies[0].textContent.trim())
  .map(table => table.caption.textContent)"""
BROKEN = """() => [
  ...[...document.images].filter(image => !image.naturalWidth).map(image => 'no picture: ' + image.alt),
  ...[...document.querySelectorAll('a[href^="#"]')].filter(link => !document.getElementById(link.hash.slice(1)))
    .map(link => 'leads nowhere: ' + link.hash),
]"""

# Columns so narrow that each line of their text has one word.
SQUEEZED = """() => [...document.querySelectorAll('td')].filter(cell => {
  const {width, height} = cell.getBoundingClientRect();
  const text = document.createRange();
  text.selectNodeContents(cell);
  return width < 120 && text.getBoundingClientRect().height > 100;
}).slice(0, 5).map(cell => cell.textContent)"""


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED)


@contextlib.contextmanager
def chromium():
    """Yields a browser, or ends the program with the reason why there is none."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        skip("there is no Playwright; python3 -m pip install playwright")
    with sync_playwright() as playwright:
        try:
            # No sandbox, because it does not work for root in a container; the page is our own.
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        except Error as error:
            skip(f"Chromium does not start: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


def end(wrong):
    """Ends the program: prints the errors, one per line."""
    for what in wrong:
        print(f"FAILED: {what}")
    print("PASSED" if not wrong else f"{len(wrong)} faults")
    sys.exit(1 if wrong else 0)


def make_reports(convlab, folder):
    def run(*arguments):
        done = subprocess.run([convlab, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"FAILED: convlab {' '.join(arguments)}: {done.stderr}")

    run("bench", "--device", "cpu", "--kernel", "cpu.direct", "--model", "fa19", "-n", "100,1000",
        "--seconds", "0.02", "--json", f"{folder}/bench.json")
    run("profile", "fa19", "--device", "cpu", "-n", "100", "--json", f"{folder}/profile.json")
    run("report", "-o", f"{folder}/report.html", "--from", f"{folder}/bench.json", f"{folder}/profile.json")
    # Without simt, the kernel's page has gaps and the commands that fill them.
    run("new", "mxnet", "-o", f"{folder}/my-forward.cuh")
    run("report", "-o", f"{folder}/own.html", "--kernel", f"{folder}/my-forward.cuh", "--from", f"{folder}/bench.json")
    return [folder / "report.html", folder / "own.html"]


def faults_of_charts(specs):
    """Returns charts that show the same data."""
    texts = [json.dumps([spec.get("labels"), spec["series"]]) for spec in specs]
    return [f"chart {i} is chart {texts.index(text)} again" for i, text in enumerate(texts) if texts.index(text) < i]


def faults_of_legend(legend):
    """Returns legend entries that are repeated, look alike or are cut off, and legends with too many entries."""
    where = f"legend of “{legend['title']}”"
    for what, values in (("names", legend["texts"]), ("marks", legend["marks"])):
        if len(set(values)) < len(values):
            yield f"{where} has the same {what} twice: {values}"
    if len(legend["texts"]) > MOST_ENTRIES:
        yield f"{where} has {len(legend['texts'])} entries"
    for text, (left, top, right, bottom) in zip(legend["texts"], legend["boxes"]):
        if not (left >= 0 and top >= 0 and right <= legend["width"] and bottom <= legend["height"]):
            yield f"{where} is cut at “{text}”"


def check(browser, page_file, width, scheme, screenshots, charts_needed=True):
    wrong = []
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.on("console", lambda message: wrong.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(page_file.as_uri())
    page.wait_for_load_state()

    specs = page.evaluate(SPECS)
    charts = len(specs)
    if charts == 0 and charts_needed:
        wrong.append("there are no charts")
    wrong.extend(faults_of_charts(specs))
    for legend in page.evaluate(LEGENDS):
        wrong.extend(faults_of_legend(legend))

    def look_at_charts(where):
        colors = page.evaluate(COLORS)
        if len(colors) != charts:
            wrong.append(f"{len(colors)} of {charts} charts have a place {where}")
        wrong.extend(f"chart {i} is empty {where}" for i, count in enumerate(colors) if count < 3)

    look_at_charts("on the screen")
    wrong.extend(f"empty table: {caption}" for caption in page.evaluate(EMPTY_TABLES))
    wrong.extend(page.evaluate(BROKEN))
    if page.locator("table").count() < 10:
        wrong.append("there are hardly any tables")
    needed = page.evaluate("() => document.documentElement.scrollWidth")
    if needed > width:
        wrong.append(f"the page is {needed} pixels wide")
    wrong.extend(f"squeezed: {text}" for text in page.evaluate(SQUEEZED))
    wrong.extend(f"wider than the screen: {what}" for what in page.evaluate(TOO_WIDE))
    if screenshots:
        page.screenshot(path=screenshots / f"{page_file.stem}-{width}-{scheme}.png", full_page=True)
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    look_at_charts("on paper")
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    look_at_charts("after printing")
    wrong.extend(f"request: {url}" for url in requests if url != page_file.as_uri() and not url.startswith("data:"))
    context.close()
    return wrong


def planted(html):
    """Yields pages with one fault each, and a word that the message about it must contain."""
    begin, end = re.search(r'<script type="application/json" id="charts">(.*?)</script>', html, re.DOTALL).span(1)
    charts = json.loads(html[begin:end])
    index, spec = next((i, spec) for i, spec in enumerate(charts) if spec["kind"] == "bars" and len(spec["series"]) > 1)

    def with_series(series):
        changed = [{**spec, "series": series} if i == index else each for i, each in enumerate(charts)]
        return html[:begin] + json.dumps(changed).replace("<", "\\u003c") + html[end:]

    first = spec["series"][0]
    yield html.replace("<main>", "<main><p style='width: 700px'>wide</p>"), "wider than the screen"
    yield html[:begin] + json.dumps([*charts[:-1], charts[0]]).replace("<", "\\u003c") + html[end:], "again"
    narrow = f"<table style='width: 60px'><tbody><tr><td>{'word ' * 20}</td></tr></tbody></table>"
    yield html.replace("<main>", f"<main>{narrow}"), "squeezed"
    yield with_series([{**each, "name": first["name"]} for each in spec["series"]]), "same names twice"
    many = [{**first, "name": f"launch {i} of a function with a name that is long"} for i in range(40)]
    yield with_series(many), "is cut at"
    yield with_series(many), "same marks twice"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("convlab")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    wrong = []
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        pages = [options.page] if options.page else make_reports(options.convlab, pathlib.Path(folder))
        pages = [page.resolve() for page in pages]
        if options.screenshots:
            options.screenshots.mkdir(parents=True, exist_ok=True)
        for page_file, width, scheme in itertools.product(pages, WIDTHS, ("light", "dark")):
            found = check(browser, page_file, width, scheme, options.screenshots, page_file == pages[0])
            wrong.extend(f"{page_file.name}, {width} pixels, {scheme}: {what}" for what in found)
        for i, (html, words) in enumerate(planted(pages[0].read_text())):
            page_file = pathlib.Path(folder) / f"planted-{i}.html"
            page_file.write_text(html)
            found = check(browser, page_file, min(WIDTHS), "light", None)
            if not any(words in what for what in found):
                wrong.append(f"planted fault {i} was not found: no message says “{words}”, but {found}")
    end(wrong)


if __name__ == "__main__":
    main()
