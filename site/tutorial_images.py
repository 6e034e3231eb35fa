#!/usr/bin/env python3
"""Makes the pictures of docs/tutorial from what convlab really shows.

    site/tutorial_images.py [path/to/convlab]

Runs the tutorials' commands in a temporary folder and photographs the pages in headless Chromium. Needs Playwright
(python3 -m pip install playwright) and Chromium, as tests/tools/check_report.py does.
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/tools"))
from check_report import chromium  # noqa: E402

IMAGES = ROOT / "docs/tutorial/images"
BROKEN = ROOT / "examples/kernels/missing_barrier.cu"
WIDTH = 900  # pixels


def photograph(page, name, height):
    page.screenshot(path=IMAGES / f"{name}.png", clip={"x": 0, "y": 0, "width": WIDTH, "height": height})


def main():
    convlab = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/cpu/bin/convlab").resolve()
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:

        def run(*arguments):
            return subprocess.run([convlab, *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout

        page = browser.new_page(viewport={"width": WIDTH, "height": 2000}, color_scheme="light")

        run("new", "mxnet", "-o", "new-forward.cuh")
        run("report", "--kernel", "new-forward.cuh", "-o", "report.html")
        page.goto(f"file://{folder}/report.html")
        photograph(page, "report", 1000)

        run("explain", "fa19", "--device", "cpu", "-o", str(IMAGES / "fa19.svg"))

        run("class", "new", "myclass", "--assignment", "fa19", "sp25", "--show-names")
        run("class", "submit", "myclass", "new-forward.cuh", "--assignment", "fa19", "--as", "Ada Lovelace")
        run("class", "submit", "myclass", "new-forward.cuh", "--assignment", "fa19", "--as", "Grace Hopper")
        run("class", "submit", "myclass", BROKEN, "--assignment", "fa19", "--as", "Ada Lovelace")
        run("class", "work", "myclass", "--until-empty")
        token = run("class", "token", "myclass", "Ada Lovelace").split()[0]
        server = subprocess.Popen([convlab, "class", "serve", "myclass", "--port", "0"], cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            base = server.stdout.readline().strip()
            page.goto(base + "enter")
            page.fill("#token", token)
            page.click("main button")
            page.wait_for_url("**/own")
            page.goto(base + "submission/3")
            photograph(page, "class-verdict", 520)
            page.goto(base + "board/fa19")
            photograph(page, "class-ranking", 480)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
