#!/usr/bin/env python3
"""The pictures of the explorer: nbs/explorer.png, of the page that `nmf2 demo` writes, for the README; and that of its menu in JupyterLab,
nbs/tutorials/living-with-a-tree.png.

    python .ci/picture.py        needs Playwright and Chromium, JupyterLab, and Pillow, which comes with matplotlib
"""
import io
import sys
import tempfile
from pathlib import Path

import nbformat.v4 as nbformat
from PIL import Image

from nmf2 import load
from nmf2.topictree import TopicTree

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT/"tests"))
import browser as web                                                              # noqa: E402

LIVING = ["from nmf2 import TopicTree, load\ndocs = load('library-docs')\nmodel = TopicTree(20, max_df=.2).fit(docs)\n"
          "model.save('docs.nmf2')\nrows = {id: i for i, id in enumerate(docs.ids)}\n"
          "def leaf_of(name): return model.tree_.path(rows[name])[-1].id",
          "explorer = model.explore()\nexplorer",
          "explorer.edit('split', node=leaf_of('scipy.ndimage.grey_opening'))"]


def keep(shot, path):
    "Write a screenshot with few colors"
    Image.open(io.BytesIO(shot)).convert("P", palette=Image.Palette.ADAPTIVE, colors=160).save(ROOT/path, optimize=True)


def of_page(browser):
    "The page of the demo, where something was searched and chosen"
    docs = load("library-docs")
    model = TopicTree(20, max_df=.2).fit(docs)                               # as the demo does
    with tempfile.TemporaryDirectory() as folder, web.page(browser, 1280, 760) as page:
        file = Path(folder)/"tree.html"
        file.write_text(model.to_html(), encoding="utf-8")
        page.goto(file.as_uri())
        page.fill("input[type=search]", "eigenvalue")
        page.wait_for_selector(".found >> text=eigenvalue")
        page.click(".found button >> nth=0")
        page.fill("input[type=search]", "")                  # what was found has been chosen; now there is room for it
        page.wait_for_timeout(500)
        keep(page.screenshot(), "nbs/explorer.png")


def of_menu(browser):
    "The menu of a topic in JupyterLab, after a split"
    kernel = dict(display_name="Python 3", language="python", name="python3")
    nb = nbformat.new_notebook(cells=[*map(nbformat.new_code_cell, LIVING)], metadata=dict(kernelspec=kernel))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder)/"living.ipynb").write_text(nbformat.writes(nb), encoding="utf-8")
        with web.jupyterlab(folder) as address, web.page(browser, 1560, 1000) as page:
            web.open_notebook(page, address, "living.ipynb")
            web.run_command(page, "notebook:run-all-cells")
            if errors := web.output_errors(page): raise SystemExit(errors)
            here = page.locator(".nmf2").first
            here.get_by_text("undo split").wait_for()
            here.locator(".row >> text=/^series, coefficients/").first.click()
            page.wait_for_timeout(800)
            here.locator(".node .menu summary").click()
            here.locator(".node .menu >> text=merge with").hover()
            page.wait_for_timeout(800)
            keep(here.screenshot(), "nbs/tutorials/living-with-a-tree.png")


with web.chromium() as browser:
    of_page(browser)
    of_menu(browser)
