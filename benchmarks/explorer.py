"""How long does one wait for the explorer, and for the page?

In a JupyterLab under Chromium: from running the cell that shows the explorer of a fitted tree until the first node is described,
the first time in a notebook and again; a click on each of many rows until that node is described; a search until its answer is
there; a move of the slider until the tree is redrawn; the map until it is drawn. And tree.html, from opening the file to the first node: its size, and a click.
Collections: 20 Newsgroups in outline with 20 leaves, and 100,000 planted documents with texts, labels and 100 leaves. Median and largest.

    python benchmarks/explorer.py [--quick] [--out FOLDER]
"""
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from common import arguments, say, table, write

sys.path.append(str(Path(__file__).resolve().parent.parent/"tests"))
import browser as web                                                              # noqa: E402

GOALS = {"first view": 2, "first view of the page of 20 Newsgroups": .5, "click": .2, "page of 20 Newsgroups, MB": 5}

FIT = """
import numpy as np
from nmf2 import HierNMF2, TopicTree, load, text_pipeline
from nmf2.data import planted_tree
corpus = {corpus}
{fit}
open("tree.html", "w", encoding="utf-8").write(tree.to_html(corpus))
"""

IN_OUTLINE = "tree = TopicTree({n_leaves}).fit(corpus).tree_"
ALL_SPLITS = """weigh = text_pipeline()
tree = HierNMF2({n_leaves}).fit(weigh.fit_transform(corpus.texts)).tree_
tree.vocab = weigh.get_feature_names_out()"""

PLANTED = "planted_tree({branching}, {n_docs}, n_words=60, n_terms={n_terms}, length=60, overlap=.6, spread=.5, texts=True, dtype=np.float32)"

# Milliseconds until a condition holds after something was done
WAIT = """async function until(act, done) {
  const start = performance.now()
  act()
  while (!done()) { if (performance.now() - start > 60000) throw new Error('never'); await new Promise(next => requestAnimationFrame(next)) }
  return performance.now() - start
}"""
CLICKS = """async n => { %s
  const place = document.querySelector('.nmf2 .panes'), seen = () => place.querySelector('.node h3'), times = []
  const ids = [...place.querySelectorAll('.row[data-id]:not([aria-selected=true])')].map(row => row.dataset.id).slice(0, n)
  for (const id of ids) {
    const old = seen()
    times.push(await until(() => place.querySelector(`.row[data-id="${id}"]`).click(), () => seen() && seen() != old))
  }
  return times }""" % WAIT
SEARCHES = """async words => { %s
  const field = document.querySelector('.nmf2 input[type=search]'), found = document.querySelector('.nmf2 .found'), times = []
  for (const word of words) {
    const old = found.firstChild
    times.push(await until(() => { field.value = word; field.dispatchEvent(new Event('input')) }, () => found.firstChild && found.firstChild != old))
  }
  return times }""" % WAIT
SLIDES = """async n => { %s
  const slider = document.querySelector('.nmf2 input[type=range]'), rows = document.querySelector('.nmf2 .tree'), times = []
  for (let k = 1; k <= n; k++) {
    const old = rows.lastChild
    times.push(await until(() => { slider.value = Math.round(slider.max*k/n); slider.dispatchEvent(new Event('input')) }, () => rows.lastChild != old))
  }
  return times }""" % WAIT

CLEAR = """() => {
  const field = document.querySelector('.nmf2 input[type=search]')
  field.value = ''
  field.dispatchEvent(new Event('input')) }"""
MAP = """async () => { %s
  const [map] = [...document.querySelectorAll('.nmf2 .pair button')].filter(button => button.textContent == 'Map')
  const time = await until(() => map.click(), () => document.querySelector('.nmf2 .island'))
  map.previousSibling.click()
  return [time] }""" % WAIT


def described(page):
    """Wait until the first node is described."""
    page.wait_for_selector(".nmf2 .node h3", state="attached", timeout=120_000)


def notebook(cells):
    """A notebook with these cells."""
    cells = [dict(cell_type="code", id=f"c{k}", metadata={}, execution_count=None, outputs=[], source=s) for k, s in enumerate(cells)]
    return json.dumps(dict(cells=cells, metadata=dict(kernelspec=dict(name="python3", display_name="Python 3")), nbformat=4, nbformat_minor=5))


def in_jupyterlab(browser, address, page, name, n):
    """Milliseconds of everything in the explorer, for a notebook that fits in its first cell and shows in the others."""
    web.open_notebook(page, address, name)
    web.run_command(page, "notebook:run-cell-and-select-next")                      # the fit
    if errors := web.output_errors(page): sys.exit(str(errors))
    times = {}
    for what in ("first view", "second view"):
        times[what] = page.evaluate("""async () => { %s
          const shown = () => document.querySelectorAll('.nmf2 .node h3').length, old = shown()
          return [await until(() => window.jupyterapp.commands.execute('notebook:run-cell-and-select-next'), () => shown() > old)] }""" % WAIT)
        page.evaluate("document.querySelectorAll('.nmf2').length > 1 && document.querySelector('.nmf2').remove()")
    return times | inside(page, n)


def inside(page, n):
    """Milliseconds of clicks, searches, moves of the slider, and the map, once something is shown."""
    words = page.eval_on_selector_all(".nmf2 .node .bars .word", "words => words.slice(0, 8).map(word => word.textContent)")
    times = {"click": page.evaluate(CLICKS, n), "search": page.evaluate(SEARCHES, words)}
    page.evaluate(CLEAR)
    return times | {"slide": page.evaluate(SLIDES, n), "map": page.evaluate(MAP)}


def measure(browser, corpus, fit, n_leaves, n):
    """Milliseconds of everything for one collection, and the size of its page."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder, "explorer.ipynb").write_text(notebook([FIT.format(corpus=corpus, fit=fit.format(n_leaves=n_leaves))] + ["tree.explore(corpus)"]*2))
        with web.jupyterlab(folder) as address, web.page(browser, 1500, 1000) as page:
            times = {f"explorer, {what}": t for what, t in in_jupyterlab(browser, address, page, "explorer.ipynb", n).items()}
        file = Path(folder, "tree.html")
        for width in (1500, 390):
            with web.page(browser, width, 1000) as page:
                page.goto(file.as_uri(), wait_until="commit")
                described(page)
                start = page.evaluate("performance.now()")
                times |= {f"page, {width} wide, {what}": t for what, t in dict(view=[start], **inside(page, n)).items()}
        return times, file.stat().st_size


def main():
    args = arguments(__doc__, "explorer.json")
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parent.parent)
    if args.quick: collections = [("planted, small", PLANTED.format(branching=(3, 2), n_docs=300, n_terms=600), IN_OUTLINE, 6)]
    else:
        collections = [("20 Newsgroups", "load('20newsgroups')", IN_OUTLINE, 20)] if os.environ.get("NMF2_DATA") else say("NMF2_DATA is not set: planted only") or []
        collections += [("planted, 100,000 documents", PLANTED.format(branching=(10, 10), n_docs=100_000, n_terms=60_000), ALL_SPLITS, 100)]
    rows = []
    try:
        with web.chromium() as browser:
            chromium = browser.version
            for name, corpus, fit, n_leaves in collections:
                say(name)
                times, size = measure(browser, corpus, fit, n_leaves, 5 if args.quick else 25)
                rows.append(dict(collection=name, leaves=n_leaves, page_mb=size/1e6,
                                 seconds={what: [float(np.median(t))/1e3, max(t)/1e3] for what, t in times.items()}))
    except web.Missing as e: sys.exit(str(e))
    shown = [[row["collection"], what, f"{median:.3f}", f"{largest:.3f}"] for row in rows for what, (median, largest) in row["seconds"].items()]
    shown += [[row["collection"], "page, MB", f"{row['page_mb']:.1f}", ""] for row in rows]
    text = table(["collection", "what", "median s", "largest s"], shown)
    text += "\n\nGoals: first view 2 s, of the page of 20 Newsgroups 0.5 s, a click 0.2 s, the page of 20 Newsgroups 5 MB."
    write(args.output, text, what="seconds one waits in a browser", goals=GOALS, chromium=chromium, rows=rows)


if __name__ == "__main__": main()
