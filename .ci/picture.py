#!/usr/bin/env python3
"""nbs/explorer.png: the picture in the README, of the page that `nmf2 demo` writes.

    python .ci/picture.py        needs Playwright and Chromium, and Pillow, which comes with matplotlib
"""
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

from nmf2 import load
from nmf2.topictree import TopicTree

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT/"tests"))
import browser as web                                                              # noqa: E402

docs = load("library-docs")
tree = TopicTree(20, max_df=.2).fit(docs).tree_                          # as the demo does
with tempfile.TemporaryDirectory() as folder, web.chromium() as browser, web.page(browser, 1280, 760) as page:
    file = Path(folder)/"tree.html"
    file.write_text(tree.to_html(docs), encoding="utf-8")
    page.goto(file.as_uri())
    page.fill("input[type=search]", "eigenvalue")
    page.wait_for_selector(".found >> text=eigenvalue")
    page.click(".found button >> nth=0")
    page.fill("input[type=search]", "")                  # what was found has been chosen; now there is room for it
    page.wait_for_timeout(500)
    shot = Image.open(io.BytesIO(page.screenshot()))
shot.convert("P", palette=Image.Palette.ADAPTIVE, colors=160).save(ROOT/"nbs"/"explorer.png", optimize=True)
