"The website, as far as it can be checked where Quarto is missing: what nbdev makes of the notebooks for it, and where links lead"
import ast
import base64
import builtins
import configparser
import contextlib
import importlib
import inspect
import io
import json
import keyword
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache, cached_property
from importlib.metadata import entry_points
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import pytest

import programs
import rendering
from browser import Missing
from browser import chromium as start_chromium
from browser import page as page_of

ROOT = Path(__file__).resolve().parent.parent
NBS = ROOT/"nbs"
NOTEBOOKS = sorted(p for p in NBS.rglob("*.ipynb") if not any(part[0] in "._" for part in p.relative_to(ROOT).parts))
MODULES = sorted(p.stem for p in (ROOT/"nmf2").glob("*.py") if not p.name.startswith("_"))
DOCUMENTS = [ROOT/name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "RELEASING.md")]
SETTINGS = configparser.ConfigParser(delimiters=["="])
SETTINGS.read(ROOT/"settings.ini", encoding="utf-8")
SETTINGS = SETTINGS["DEFAULT"]
SITE = SETTINGS["doc_host"] + SETTINGS["doc_baseurl"] + "/"
REPOSITORY = SETTINGS["git_url"] + "/"
BLOB = f"{REPOSITORY}blob/{SETTINGS['branch']}/"

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
each_text = pytest.mark.parametrize("path", NOTEBOOKS + DOCUMENTS, ids=lambda p: p.stem)
each_module = pytest.mark.parametrize("name", MODULES)

# ---- reading

def join(text): return text if isinstance(text, str) else "".join(text)

def cells(path):
    "The cells of a notebook, as (kind, source, outputs)"
    nb = json.loads(path.read_text(encoding="utf-8"))
    return [(c["cell_type"], join(c["source"]), c.get("outputs", [])) for c in nb["cells"]]

def directives(source):
    "What the lines at the top of a code cell say to nbdev and Quarto, by their first word"
    top = re.match(r"(\s*#\|.*\n?)*", source)[0]
    return {line.split("|", 1)[1].split()[0] for line in top.splitlines() if line.strip()}

def code(source):
    "A code cell without the lines at its top"
    return re.sub(r"\A(\s*#\|.*\n?)*", "", source).strip()

def prose(path):
    "The texts that people read: markdown cells, or the whole of a document"
    if path.suffix != ".ipynb": return [path.read_text(encoding="utf-8")]
    return [s for kind, s, _ in cells(path) if kind == "markdown"]

def without_code(text):
    "A text without blocks of code, comments, and what is in backticks"
    text = re.sub(r"^```.*?^```|<!--.*?-->", "", text, flags=re.M | re.S)
    text = re.sub(r"(\A|\n\n)( {4}.*(\n|\Z))+", r"\1", text)
    return re.sub(r"(`+)[^`](.*?[^`])?\1", "code", text)

def without_formulas(text): return re.sub(r"\$\$.*?\$\$|\$(?!\s)[^$]*?(?<!\s)\$(?!\d)", "formula", text, flags=re.S)

def html_name(path):
    "The page that a notebook becomes, as seen from the top of the site"
    folder = path.relative_to(NBS).parent
    return (folder/f"{re.sub('^[0-9]+[a-zA-Z0-9]*_', '', path.stem.lower())}.html").as_posix()

PAGES = {html_name(p): p for p in NOTEBOOKS}

# ---- the pages

class Page:
    "What nbdev hands to Quarto for a notebook"
    def __init__(self, path):
        self.cells = cells(path)
        self.front = self.cells[0][1]
        self.markdown = [s for kind, s, _ in self.cells if kind == "markdown"]
        self.code = [s for kind, s, _ in self.cells if kind == "code" and not re.search(r"^show_doc\(", s, re.M)]
        self.entries, parts = [], []
        for kind, source, outputs in self.cells[1:]:
            if kind == "markdown": parts.append(source)
            shown = [join(o["data"]["text/markdown"]) for o in outputs if "text/markdown" in o.get("data", {})]
            if found := re.search(r"^show_doc\(([\w.]+)\)", source, re.M): self.entries.append((found[1], "".join(shown)))
            parts += shown
        self.text = "\n\n".join(parts)

    @cached_property
    def anchors(self):
        "The ids that Pandoc gives to headings"
        ids, plain = [], []
        for heading in re.findall(r"^#+ +(.*)", re.sub(r"^```.*?^```", "", self.text, flags=re.M | re.S), re.M):
            plain.append(anchor := slug(heading))
            ids.append(anchor if plain.count(anchor) == 1 else f"{anchor}-{plain.count(anchor) - 1}")
        return ids

def slug(heading):
    "A heading's id: its text in lower case from the first letter on; letters, digits, _ - . stay, spaces become -"
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    text = re.sub(r"\s+", "-", re.sub(r"[^\w\s.-]", "", text).strip()).lower()
    return re.sub(r"^[^a-z]*", "", text) or "section"

@pytest.fixture(scope="module")
def chromium():
    try:
        with start_chromium() as browser: yield browser
    except Missing as e: pytest.skip(str(e))

@contextlib.contextmanager
def alone(folder):
    "One process of a test run at a time"
    fcntl = pytest.importorskip("fcntl")
    folder.mkdir(exist_ok=True)
    with open(folder/"lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

@pytest.fixture(scope="module")
def site():
    "All pages as Quarto gets them from `nbdev_docs`, and what was said while making them; once for all processes of a test run"
    pytest.importorskip("nbdev")
    shared = Path(programs.folder())/"site"
    copy, said = shared/"nmf2", shared/"said"
    with alone(shared):
        if not said.exists():
            if copy.exists(): pytest.fail("another process could not make the site")
            said.write_text(make_site(copy), encoding="utf-8")
    pages = {path: Page(copy/"_proc"/path.relative_to(NBS)) for path in NOTEBOOKS}
    return SimpleNamespace(pages=pages, folder=copy/"_proc", copy=copy, said=said.read_text(encoding="utf-8"))

MAKE = """import os, sys
from nbdev.quarto import nbdev_docs
nbdev_docs(n_workers=0)
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)     # each shell that ran a notebook would collect garbage now, which takes half a minute for all of them
"""

def make_site(copy):
    "Make the pages in a copy of the repository; what was said"
    left = (".*", "build", "dist", "_docs", "_proc", "nmf2-results", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*left))
    (copy/"nmf2"/"__pycache__").mkdir()                            # with machine code, the demo need not be compiled anew
    for file in (ROOT/"nmf2"/"__pycache__").glob("*.nbc"): shutil.copy(file, copy/"nmf2"/"__pycache__")
    path = os.pathsep.join([stand_in(copy.parent), os.environ["PATH"]])
    env = os.environ | dict(PATH=path, PYTHONPATH=str(copy), IPYTHONDIR=str(copy.parent/"ipython"), PYTHONWARNINGS="default::UserWarning")
    run = lambda *command: subprocess.run([sys.executable, *command], cwd=copy, env=env, capture_output=True, text=True)
    made = run("setup.py", "-q", "egg_info")                      # nbdev looks names up in installed packages
    assert made.returncode == 0, made.stderr
    os.utime(copy/"README.md", (0, 0))                            # as old as it can be beside the notebook it is written from
    done = run("-c", MAKE)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr

def stand_in(folder):
    "A folder with a `quarto` that notes what it is asked for, and spoils the README if told to write it"
    (folder/"bin").mkdir()
    script = folder/"bin"/"quarto"
    script.write_text(f"""#!/bin/sh
echo "$@" >> {folder}/asked
mkdir -p _docs
case "$*" in *README.md*) echo spoilt > _docs/README.md ;; esac
""", encoding="utf-8")
    script.chmod(0o755)
    return str(folder/"bin")

def test_building_the_site_leaves_the_readme_alone(site):
    assert (site.copy/"README.md").read_bytes() == (ROOT/"README.md").read_bytes()
    assert (site.copy.parent/"asked").read_text().split("\n") == ["render --no-cache", ""] and (site.copy/"_docs").is_dir()

@each_notebook
def test_links_on_the_site_stay_on_it(site, path):
    "A local copy or a fork leads to its own pages"
    for _, source, outputs in site.pages[path].cells:
        shown = [source, *(join(text) for o in outputs for text in o.get("data", {}).values() if not isinstance(text, dict))]
        assert not [text for text in shown if SITE in text]

def test_pages_are_made_without_a_warning(site):
    about = re.findall(r"[/\\](?:nbdev|nmf2)[/\\]\S+: (\w*Warning: .*(?:\n.*){0,6})", site.said)
    assert not about, "\n".join(about)          # an import beside other code, for example

@each_notebook
def test_page_begins_with_title_and_summary(site, path):
    yaml = pytest.importorskip("yaml")
    front = yaml.safe_load(site.pages[path].front.strip().strip("-"))
    found = re.fullmatch(r"# (\S.*)\n\n> (\S.*)\n?", prose(path)[0])
    assert found, "title and summary have a cell to themselves: nbdev drops what else is in it"
    title, summary = found.groups()
    assert front == dict(title=title, description=summary, **{"output-file": Path(html_name(path)).name})

@each_notebook
def test_page_has_all_that_should_be_seen(site, path):
    page = site.pages[path]
    words = lambda text: re.sub(r"<!-- here: \w+ -->|\[(`[^`]*`)\]\([^)]*\)|\]\([^)]*\)", r"\1", text).split()
    seen = " ".join(words("\n\n".join(page.markdown)))
    for text in prose(path)[1:]: assert " ".join(words(text)) in seen, text
    sources = [code(s) for s in page.code]
    for kind, source, _ in cells(path):
        said = directives(source) if kind == "code" else set()
        if kind != "code" or not code(source): continue
        if said & {"hide", "export", "exporti", "default_exp"}: assert code(source) not in sources, source
        else: assert code(source) in sources, source

CELL_OPTIONS = "echo output eval include warning classes code-fold code-summary fig-cap fig-alt label"     # Quarto's

@each_notebook
def test_page_shows_no_directive_and_no_error(site, path):
    for kind, source, outputs in site.pages[path].cells:
        if kind == "code": assert directives(source) <= {f"{option}:" for option in CELL_OPTIONS.split()}, source
        assert not re.search(r"^\s*#\s*\|", code(source), re.M) or kind != "code", source
        assert not [o for o in outputs if o["output_type"] == "error"], source
        assert kind != "code" or "show_doc(" not in source or "text/markdown" in outputs[0]["data"], source

@cache
def module(name): return importlib.import_module(f"nmf2.{name}")

@cache
def public(name):
    "The functions and classes that a module exports and defines itself"
    things = {n: getattr(module(name), n) for n in module(name).__all__}
    return {n: t for n, t in things.items() if callable(t) and getattr(t, "__module__", "") == f"nmf2.{name}"}

def methods(cls):
    "The public methods of a class that have a docstring"
    functions = (getattr(f, "__func__", f) for f in vars(cls).values())             # also of static methods
    own = (f for f in functions if inspect.isfunction(f) and f.__module__ == cls.__module__
           and f.__qualname__.startswith(cls.__name__ + "."))
    return {f.__qualname__: f for f in own if f.__doc__ and not f.__name__.startswith("_")}

@cache
def definition(thing):
    "The lines of a function or class, and what Python makes of them"
    lines = inspect.getsource(getattr(thing, "py_func", inspect.unwrap(thing) if callable(thing) else thing)).splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    lines = [line[indent:] for line in lines]
    return lines, ast.parse("\n".join(lines)).body[0]

def comments(thing):
    "What is said of each parameter on its line, or of each field, and what of the result, as (beginning of the line, comment)"
    lines, tree = definition(thing)
    if isinstance(tree, ast.ClassDef):
        fields = [lines[n.lineno - 1] for n in tree.body if isinstance(n, ast.AnnAssign)]
        tree = next((n for n in tree.body if getattr(n, "name", "") == "__init__"), None)
    for line in lines[tree.lineno - 1:tree.body[0].lineno - 1] if tree else fields:
        what, _, said = (part.strip() for part in line.partition("#"))
        if said: yield ("result" if what.endswith(":") else re.match(r"(def .*?[(,] *)?(\*{0,2}\w+)", what)[2]), said

def properties(name, entries):
    "The properties among the entries of a page, those that have a cell of their own, as functions"
    found = {n: attrgetter(n)(module(name)) for n in entries}
    return {n: thing.fget for n, thing in found.items() if isinstance(thing, property)}

def first_parameter(thing): return next(iter(inspect.signature(thing).parameters), None)

def rows(entry):
    "What the table of an entry says of each parameter and of the result"
    for row in re.findall(r"^\| (.*) \|$", entry, re.M)[1:]:
        what, said = re.split(r" (?<!\\)\| ", row)[:2]
        plain = re.sub(r"\[(`[^`]*`)\]\([^)]*\)", r"\1", said)
        plain = "".join(part if i % 2 else re.sub(r"\\(\W)", r"\1", part) for i, part in enumerate(re.split(r"(`[^`]*`|\$[^$]*\$)", plain)))
        for name in re.findall(r"\*{0,2}\w+", what.replace("*result*", "result")): yield name, plain.replace("&#92;", "\\")

@each_module
def test_each_public_name_has_its_entry(site, name):
    path = next(p for p in NOTEBOOKS if p.stem.split("_", 1)[-1] == name and p.parent == NBS)
    page, things = site.pages[path], public(name)
    things |= {n: f for cls in list(things.values()) if inspect.isclass(cls) for n, f in methods(cls).items()}
    things |= properties(name, [n for n, _ in page.entries])
    entries = dict(page.entries)
    assert sorted(n for n, _ in page.entries) == sorted(things)
    source = (ROOT/"nmf2"/f"{name}.py").read_text(encoding="utf-8").splitlines()
    for n, thing in things.items():
        entry, short = entries[n], n.split(".")[-1]
        assert f"\n### {n}\n" in entry and page.anchors.count(n.lower()) == 1, n
        assert inspect.getdoc(thing).splitlines()[0] in re.sub(r"\[(`[^`]*`)\]\([^)]*\)", r"\1", entry), n
        file, line = re.search(rf"\[source\]\({re.escape(BLOB)}([\w/.]+)#L(\d+)\)", entry).groups()
        assert file == f"nmf2/{name}.py" and re.match(rf"\s*(def|class) {short}\b", source[int(line) - 1]), f"{n}: {file}#L{line}"
        assert "__main__" not in entry and "NoneType" not in entry, n
        assert "*args, **kwargs" not in entry and "(self" not in entry, n
        said = dict(comments(thing))
        if "." in n and said.keys() - dict(rows(entry)).keys() == {first_parameter(thing)}: del said[first_parameter(thing)]      # the object itself
        assert said == {name: text for name, text in rows(entry) if name in said}, n

# ---- links

def links(text):
    "Where a text's links and pictures lead"
    text = without_code(text)
    yield from re.findall(r"\]\(<?([^)\s>]+)", text)
    yield from re.findall(r"\b(?:href|src)=[\"']?([^\"'\s>]+)", text)
    yield from re.findall(r"^\[[^]]+\]: +(\S+)", text, re.M)

def github_anchors(path):
    "The ids that GitHub gives to the headings of a document"
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    return [re.sub(r"[^\w -]", "", h.lower()).strip().replace(" ", "-") for h in re.findall(r"^#+ +(.*)", text, re.M)]

def in_repository(url):
    "The file of this repository that a link to its place on the web means, or None"
    found = re.match(rf"{re.escape(REPOSITORY)}(?:blob|tree|raw)/{SETTINGS['branch']}/([^#?]+)", url)
    return ROOT/found[1] if found else None

def leads_somewhere(path, to):
    "In JupyterLab and on GitHub"
    file, _, part = to.partition("#")
    if re.match(r"[a-z]+:", file): return (in_repository(to) or ROOT).exists()
    return (path.parent/file).exists() if file else path.suffix == ".ipynb" or part in github_anchors(path)

@each_text
def test_links_lead_somewhere_in_a_clone(path):
    assert [to for text in prose(path) for to in links(text) if not leads_somewhere(path, to)] == []

def leads_to_a_page(site, path, to):
    "On the site"
    file, _, part = to.partition("#")
    if re.match(r"[a-z]+:", file): return (in_repository(to) or ROOT).exists()
    target = (path.parent/file).resolve() if file else path
    if not target.is_relative_to(NBS): return False
    there = html_name(target) if target.suffix == ".ipynb" else target.relative_to(NBS).as_posix()
    if not there.endswith(".html"): return (site.folder/there).is_file()
    if there not in PAGES: return (site.folder/there).is_file()                  # the page of the demo
    return (not part or part in site.pages[PAGES[there]].anchors)

@each_notebook
def test_links_lead_somewhere_on_the_site(site, path):
    assert [to for to in links(site.pages[path].text) if not leads_to_a_page(site, path, to)] == []

# ---- finding things

QUESTIONS = {    # what a newcomer asks, where the answer stands, and words of it
    "How do I install it without a network?": ("guide/install.html#without-a-network", "pip download"),
    "How do I get topics from a table of my own?": ("tutorials/your-own-corpus.html#reading-it", "finds out what a file is"),
    "How many topics should I ask for?": ("guide/faq.html#how-many-topics-should-i-ask-for", "As many as you want to read"),
    "How do I sort new documents into the topics?": ("guide/recipes.html#say-where-new-documents-belong", "`predict` numbers the topics"),
    "How do I keep a model, and use it in a service?": ("guide/recipes.html#a-saved-model-in-a-service", "One file without pickle"),
    "My texts are German: what now?": ("guide/recipes.html#other-languages", "A sample of the texts tells"),
    "May I believe these topics?": ("tutorials/can-i-trust-it.html", "frame of dashes"),
    "How do I split a topic, or merge two?": ("tutorials/living-with-a-tree.html#one-topic-that-is-two-things", "They aren't for us"),
    "What does the question mark in an outline mean?": ("guide/faq.html#what-does-the-in-an-outline-mean", "below 60 %"),
    "Which topics speak of a word?": ("guide/recipes.html#a-topic-that-is-too-broad-two-that-are-the-same", "`tree_.find` says"),
    "Which words set a topic apart?": ("guide/recipes.html#the-words-of-a-topic", "more of than its sibling"),
    "How do I leave cores to others?": ("guide/recipes.html#fewer-cores", "taskset -c 0-3"),
    "Can I give a topic a name?": ("guide/faq.html#can-i-give-topics-names", "`model.rename` a node and a name"),
    "Is it better than BERTopic or LDA?": ("guide/which-method.html#take-something-else", "Embeddings know that"),
    "What does 'No terms are left' want from me?": ("guide/faq.html#no-terms-are-left", "lower `min_df`"),
    "What are the parameters of TopicTree?": ("topictree.html#topictree", "keep words in at least so many documents"),
    "What is mNDCG?": ("guide/glossary.html#m-to-n", "the score by which the papers choose"),
    "How do I cite it?": ("guide/cite.html", "@inproceedings"),
}

def section(page, part):
    "The text of a page from a heading to the next, or all of it"
    if not part: return page.text
    pieces = re.split(r"^(#+ +.*)$", page.text, flags=re.M)
    return next("".join(pieces[i:i + 2]) for i in range(1, len(pieces), 2) if slug(pieces[i].lstrip("#")) == part)

def clicks(site, quarto):
    "How many clicks from the home page lead to each page, by links in texts, the bar at the top, and the list at the side"
    bar = [item["href"] for item in quarto["website"]["navbar"]["left"] + quarto["website"]["navbar"]["right"]]
    lists = [[v for _, v in walk(sidebar) if isinstance(v, str) and v.endswith(".ipynb")] for sidebar in quarto["website"]["sidebar"]]
    steps, now = {"index.html": 0}, ["index.html"]
    while now:
        there = now.pop(0)
        path = PAGES[there]
        place = path.relative_to(NBS).as_posix()
        around = [*bar, *(page for pages in lists if place in pages for page in pages)]
        targets = [path.parent/to.partition("#")[0] for to in links(site.pages[path].text) if "#" not in to[:1]] + [NBS/to for to in around]
        for target in targets:
            target = target.resolve()
            if not target.is_relative_to(NBS): continue
            page = html_name(target) if target.suffix == ".ipynb" else target.relative_to(NBS).as_posix()
            if page in PAGES and page not in steps:
                steps[page] = steps[there] + 1
                now.append(page)
    return steps

def test_questions_of_a_newcomer_are_answered_within_three_clicks(site, quarto):
    steps = clicks(site, quarto)
    assert steps.keys() == PAGES.keys(), "pages that nothing leads to"
    for question, (to, words) in QUESTIONS.items():
        page, _, part = to.partition("#")
        assert steps[page] + bool(part) <= 3, f"{question} {to} is {steps[page]} clicks from home"      # the contents of a page are beside it
        assert not part or part in site.pages[PAGES[page]].anchors, to
        assert words in section(site.pages[PAGES[page]], part), f"{question} {to} has no {words!r}"

def test_home_leads_to_every_page():
    there = {to.partition("#")[0] for text in prose(NBS/"index.ipynb") for to in links(text)}
    missing = {p.relative_to(NBS).as_posix() for p in NOTEBOOKS if p.stem != "index"} - there
    assert not missing, "the tables of nbs/index.ipynb name each tutorial, explanation and chapter"

def test_home_opens_with_a_picture_and_three_lines():
    first, second, third = [(kind, text) for kind, text, _ in cells(NBS/"index.ipynb")][1:4]
    assert first[0] == "markdown" and "![" in first[1] and first[1].index("![") < first[1].index("pip install nmf2") and max(map(len, first[1].split("```")[1].splitlines())) < 40
    assert second[0] == "code" and len([line for line in second[1].splitlines() if line]) == 3 and third[0] == "markdown"

@each_notebook
def test_each_page_can_be_had_as_a_notebook(site, path):
    place = path.relative_to(NBS).as_posix()
    to, name = re.search(r"\[download it\]\((\S+?)\)\{download=\"(\S+)\"\}", site.pages[path].text).groups()
    assert name == path.name and (site.folder/place).parent.joinpath(to).read_bytes() == path.read_bytes()
    assert f"/nmf2/nmf2/blob/main/nbs/{place}) and run `%pip install nmf2`" in site.pages[path].text

def test_install_page_has_every_extra():
    text = "".join(prose(NBS/"guide"/"install.ipynb"))
    extras = [key.removesuffix("_requirements") for key in SETTINGS if key.endswith("_requirements")]
    assert sorted(re.findall(r"nmf2\[(\w+)\]\"` \|", text)) == sorted(extras)

def printed(path):
    "What the code of a page prints today, and what it printed when it was saved, for each of its cells"
    here, known = os.getcwd(), {}
    try:
        for kind, source, outputs in cells(path):
            if kind != "code": continue
            with contextlib.redirect_stdout(io.StringIO()) as out: exec(compile(source, path.name, "exec"), known)
            yield out.getvalue(), "".join(join(o["text"]) for o in outputs if o.get("name") == "stdout")
    finally: os.chdir(here)

def test_error_messages_are_those_of_today():
    path = NBS/"guide"/"faq.ipynb"
    for now, then in printed(path): assert now == then
    said = [(kind, text, "".join(join(o.get("text", "")) for o in outputs)) for kind, text, outputs in cells(path)]
    pairs = [(re.match(r"#### (.*)", text)[1], after[2]) for (_, text, _), after in zip(said, said[1:]) if text.startswith("####")]
    assert len(pairs) > 10
    for head, message in pairs: assert head in message

def test_each_recipe_has_code_that_runs():
    "What it prints depends on the versions of the libraries whose docstrings are the documents; `nbdev_test` runs it"
    parts = re.split(r"^## .*$", "\n".join(f"```\n{text}" if kind == "code" else text for kind, text, _ in cells(NBS/"guide"/"recipes.ipynb")), flags=re.M)
    assert len(parts) > 10 and all("```" in part for part in parts)

INSIDE = ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.FunctionDef

def at_the_top(node):
    "The nodes of some code that are not in a function or a comprehension of it"
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, INSIDE): yield from at_the_top(child)

def assigned(nodes): return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}

def names_of(source):
    "The names that some code makes, those that it makes anywhere in it, and those that it needs"
    tree = ast.parse(source)
    every = list(ast.walk(tree))
    made = assigned(at_the_top(tree)) | {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    made |= {(alias.asname or alias.name).split(".")[0] for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))
             for alias in node.names}
    own = made | assigned(every) | {node.arg for node in every if isinstance(node, ast.arg)}
    return made, own, {node.id for node in every if isinstance(node, ast.Name)}

def test_each_recipe_needs_the_model_alone():
    "A recipe that is copied without the others runs, and so do the others after it"
    known, title, of = set(), "", {}
    for kind, source, _ in cells(NBS/"guide"/"recipes.ipynb"):
        if kind == "markdown": title = source.splitlines()[0] if source.startswith("## ") else title
        elif not title: known |= names_of(source)[0]
        elif "hide" not in directives(source): of.setdefault(title, []).append(names_of(source))
    for title, found in of.items():
        for made, own, needed in found:
            assert not needed - own - known - set(dir(builtins)), title
            assert not made & known, title

def commands(path):
    "The `nmf2` commands in the blocks for a shell, as lists of words"
    for text in prose(path):
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
            for line in block.splitlines():
                words = shlex.split(line.partition(" > ")[0], comments=True)
                if words and words[0] in ("nmf2", ".venv/bin/nmf2", "fresh/bin/nmf2"): yield words[1:]

@each_text
def test_commands_in_the_texts_are_taken(path):
    from nmf2.cli import parser
    for words in commands(path):
        if words != ["--version"]: assert parser().parse_args(words), words           # a wrong option ends the program

# ---- names

DISTINCT = re.compile(r"[a-z0-9]*_\w+|[A-Z]\w*[A-Z0-9]\w*|[A-Z][a-z]+")      # no everyday words

def home(name):
    "The module that explains a public name, or None if there are two"
    found = [m for m in MODULES if name in public(m)]
    return found[0] if len(found) == 1 else None

@each_notebook
def test_names_are_links_to_their_entries(site, path):
    text = re.sub(r"^```.*?^```|^#.*?$", "", site.pages[path].text, flags=re.M | re.S)
    for name, to in re.findall(r"\[`([^`]+)`\]\(([^)]+)\)", text):
        dotted = name.rstrip("()").lower().removeprefix("nmf2.").split(".")
        part = to.partition(".html#")[2]
        owner = not name.startswith("nmf2.") and part in (".".join(dotted[:-1]), dotted[0])         # of an attribute
        if part: assert part.split(".")[-1] == dotted[-1] or owner, f"{name}: {to}"
        if path.stem != "names" and re.fullmatch(r"[a-z]\w*", name) and not DISTINCT.fullmatch(name):
            known = vars(module(path.stem[3:])) if path.stem[3:] in MODULES else {}
            imports = re.findall(r"^from nmf2.*import (.*)", "\n".join(site.pages[path].code), re.M)
            assert name in known or re.search(rf"\b{name}\b", " ".join(imports)), f"`{name}` is just a word, but leads to {to}"
    for name in set(re.findall(r"`(\w+)(?:\(\))?`", text)):
        if not DISTINCT.fullmatch(name) or not (place := home(name)): continue
        url = f"{'../'*(len(path.relative_to(NBS).parts) - 1)}{place}.html#{name.lower()}"
        for before, after in re.findall(rf"(.)`{name}(?:\(\))?`(.{{0,{len(url) + 3}}})", text, re.S):
            assert before == "[" and after == f"]({url})", f"`{name}` in {path.stem} leads to {after!r}, not {url}"

def names_in(source):
    "The names and the words of strings in a piece of code, without those in comments and docstrings"
    try: tree = ast.parse(source)
    except SyntaxError: return
    nodes = list(ast.walk(tree))
    said = {id(n.value) for n in nodes if isinstance(n, ast.Expr)}
    kept = {getattr(n, field, None) for n in nodes for field in ("id", "attr", "arg", "name", "asname", "module")
            if isinstance(getattr(n, field, None), str)}
    kept |= {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in said}
    yield from re.findall(r"\w+", "\n".join(kept))

@pytest.fixture(scope="module")
def words():
    "The names in the code of the package, of its notebooks and of what belongs to them"
    files = [p for folder in ("nmf2", "benchmarks", "tests", ".ci") for p in (ROOT/folder).glob("*.py") if p.stem != "test_site"]
    sources = [p.read_text(encoding="utf-8") for p in files] + [s for p in NOTEBOOKS for kind, s, _ in cells(p) if kind == "code"]
    found = {name for s in sources for name in names_in(s)}
    return found | {*SETTINGS, *dir(builtins), *keyword.kwlist, *(p.stem for p in NOTEBOOKS)}

def library(name):
    "Is this a name in a library that nmf2 stands on?"
    places = ("numpy", "scipy.sparse", "scipy.linalg", "sklearn.feature_extraction.text", "sklearn.pipeline", "sklearn.cluster",
              "sklearn.decomposition", "sklearn.base", "ipywidgets", "matplotlib.pyplot", "matplotlib.colors", "os")
    commands = {command.name for command in entry_points(group="console_scripts")}
    return name in commands or any(hasattr(importlib.import_module(place), name) for place in places)

@cache
def exported(): return {n: t for m in MODULES for n, t in public(m).items()}

@cache
def exists(dotted):
    "Is there such a thing, `Tree.save` or `nmf2.tree.load`?"
    first, *rest = dotted.split(".")
    if first in ("nmf2", "numpy", "scipy", "sklearn", "matplotlib", "ipywidgets"):
        for i in range(len(rest), -1, -1):
            try: thing, rest = importlib.import_module(".".join([first, *rest[:i]])), rest[i:]
            except ImportError: continue
            break
    elif first[0].isupper() and first in exported(): thing = exported()[first]
    else: return None                           # a variable of an example
    for part in rest:
        fitted = inspect.isclass(thing) and re.search(rf"self\.{part}\b|^    {part}:|`{part}`", inspect.getsource(thing), re.M)
        if fitted: return True
        if not hasattr(thing, part): return False
        thing = getattr(thing, part)
    return True

@pytest.mark.slow
@pytest.mark.parametrize("path", [*NOTEBOOKS, *DOCUMENTS, *(ROOT/"nmf2"/f"{m}.py" for m in MODULES)], ids=lambda p: p.name)
def test_no_name_is_made_up(words, path):
    "What is in backticks and looks like a name: `Tree.save`, `save(path)`, `n_leaves=3`, `TreeExplorer`"
    made_up, text = [], re.sub(r"^### Removed.*?(?=^##|\Z)|^```.*?^```", "", "\n\n".join(prose(path)), flags=re.M | re.S)
    for span in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text):
        if "/" in span or re.search(r"\.(txt|jsonl?|[ct]sv|py|md|mat|ipynb|html|np[yz]|gz|ini|yml|zip|svg|png)\b", span): continue
        for dotted in re.findall(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", span):
            if exists(dotted) is False: made_up.append(dotted)
            made_up += [p for p in dotted.split(".")[1:] if exists(dotted) is None and p not in words]
        called = re.findall(r"(?<![\w.])[A-Za-z_]\w*(?=\()", span)
        for name in called + re.findall(r"(?<![\w.])(?:\w*_\w+|[A-Z][a-z0-9]+\w*[A-Z]\w*)(?![\w.])", span):
            if name not in words and not library(name): made_up.append(name)
    assert not made_up

def test_index_of_names_is_right():
    index = {}
    exec((ROOT/"nmf2"/"_modidx.py").read_text(encoding="utf-8"), index)
    names, settings = index["d"]["syms"], index["d"]["settings"]
    assert settings == {k: SETTINGS[k] for k in settings} and "doc_host" in settings
    assert sorted(names) == [f"nmf2.{m}" for m in MODULES]
    for m, entries in names.items():
        for name, (page, file) in entries.items():
            thing = importlib.import_module(m)
            for part in name[len(m) + 1:].split("."): thing = inspect.getattr_static(thing, part)
            assert (ROOT/file).is_file() and page == f"{m[5:]}.html#{name[len(m) + 1:].lower()}" and f"{m[5:]}.html" in PAGES
        assert {f"{m}.{n}" for n in public(m[5:])} <= set(entries)

# ---- the settings

KNOWN = {    # the options of Quarto that there are, as far as they could be of use
    "": "project format execute website",
    "project": "type output-dir preview render resources",
    "project.preview": "port host browser watch-inputs navigate timeout",
    "execute": "enabled freeze",
    "format": "html",
    "format.html": "theme css toc toc-depth toc-title code-tools code-copy code-fold code-overflow html-math-method "
                   "number-sections anchor-sections smooth-scroll link-external-newwindow highlight-style "
                   "respect-user-color-scheme lightbox grid",
    "format.html.grid": "sidebar-width body-width margin-width gutter-width content-mode",
    "format.html.theme": "light dark",
    "website": "title description favicon site-url repo-url repo-branch repo-subdir repo-actions issue-url search "
               "page-navigation back-to-top-navigation bread-crumbs reader-mode navbar sidebar page-footer open-graph",
    "website.open-graph": "title description image image-alt",
    "website.navbar": "title logo logo-alt background foreground search pinned collapse left right",
    "website.navbar.left": "text href icon aria-label menu",
    "website.navbar.right": "text href icon aria-label menu",
    "website.sidebar": "id title style search contents collapse-level background border alignment",
    "website.sidebar.contents": "text href section contents",
    "website.sidebar.contents.contents": "text href section contents",
}

@pytest.fixture(scope="module")
def quarto():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT/"_quarto.yml").read_text(encoding="utf-8"))

def walk(thing, place=""):
    "The options in some settings, as (place, value); the items of a list are all in the same place"
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield f"{place}.{key}".strip("."), value
            yield from walk(value, f"{place}.{key}".strip("."))
    elif isinstance(thing, list):
        for item in thing:
            if not isinstance(item, dict): yield place, item
            yield from walk(item, place)

def test_settings_of_the_site_are_known_to_quarto(quarto):
    assert (NBS/"_quarto.yml").is_symlink() and (NBS/"_quarto.yml").samefile(ROOT/"_quarto.yml")
    for place, _ in walk(quarto):
        above, _, option = place.rpartition(".")
        if above in KNOWN: assert option in KNOWN[above].split(), place
        else: assert above == "", f"{place}: options of {above} are not known here"

def test_settings_of_the_site_agree_with_the_package(quarto):
    site = quarto["website"]
    assert quarto["project"]["output-dir"] == SETTINGS["doc_path"] and quarto["execute"] == {"enabled": False}
    assert (site["title"], site["description"]) == (SETTINGS["title"], SETTINGS["description"])
    assert [site[f"repo-{k}"] for k in ("url", "branch", "subdir")] == [SETTINGS[k] for k in ("git_url", "branch", "nbs_path")]
    assert site["site-url"] == SITE.rstrip("/") and SETTINGS.getboolean("custom_sidebar")
    assert site["search"] and site["page-navigation"]
    assert site["navbar"]["right"][0]["text"] == SETTINGS["version"], "the version that the site shows"
    assert f"version = {{{SETTINGS['version']}}}" in "".join(prose(NBS/"guide"/"cite.ipynb"))

def test_site_loads_nothing_from_elsewhere(quarto):
    assert quarto["format"]["html"]["html-math-method"] == "mathml"      # any other way fetches a script
    for place, value in walk(quarto):
        if not (isinstance(value, str) and "//" in value): continue
        assert place in ("website.repo-url", "website.site-url") or place.endswith(".href"), f"{place}: {value}"
        assert (value + "/").startswith((REPOSITORY, SITE)), value
    for kind, theme in quarto["format"]["html"]["theme"].items():        # most themes fetch their fonts unless told otherwise
        files = [NBS/name for name in theme if name.endswith(".scss")]
        defaults = "".join(f.read_text(encoding="utf-8").partition("scss:rules")[0] for f in files)
        assert re.search(r"^\$web-font-path: false;", defaults, re.M), kind
    for file in NBS.rglob("*.*css"): assert not re.search(r"@import|url\(|//\w+\.\w", file.read_text(encoding="utf-8")), file

def test_site_leads_to_its_pages(site, quarto):
    assert len(PAGES) == len(NOTEBOOKS)
    for place, href in walk(quarto["website"]):
        if not place.endswith((".href", "contents")) or not isinstance(href, str): continue
        assert re.match("https:", href) or (site.folder/href).is_file(), href
    assert (site.folder/"_quarto.yml").read_bytes() == (ROOT/"_quarto.yml").read_bytes()
    for theme in quarto["format"]["html"]["theme"].values():
        for name in theme: assert re.fullmatch(r"[a-z]+", name) or (site.folder/name).is_file(), name

# ---- pictures and other outputs

@each_notebook
def test_pictures_can_be_seen(path):
    PIL = pytest.importorskip("PIL.Image")
    from xml.etree import ElementTree
    for _, source, outputs in cells(path):
        for data in (o.get("data", {}) for o in outputs):
            for kind in ("image/png", "image/jpeg"):
                if kind not in data: continue
                raw = base64.b64decode(join(data[kind]))
                assert len(raw) < 300_000
                with PIL.open(io.BytesIO(raw)) as picture: picture.verify()
                with PIL.open(io.BytesIO(raw)) as picture:
                    assert 40 < min(picture.size) and max(picture.size) < 2000, picture.size
                    shades = sorted(n for n, _ in picture.convert("L").getcolors())
                assert len(shades) > 2 and sum(shades) - shades[-1] > .001*sum(shades), "a picture of one colour"
            if "image/svg+xml" in data:
                drawing = ElementTree.fromstring(join(data["image/svg+xml"]))
                assert len(join(data["image/svg+xml"])) < 300_000
                assert drawing.tag.endswith("svg") and len(list(drawing.iter())) > 3

def without_alternative(path):
    "The cells that show pictures and have no line such as `#| fig-alt: \"Bars: how many documents have a topic\"`"
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        pictures = [kind for o in cell.get("outputs", []) for kind in o.get("data", {}) if kind.startswith("image/")]
        said = re.search(r'^#\| fig-alt: "(.{20,})"$', join(cell["source"]), re.M)
        if pictures and not said: yield cell["id"]

@each_notebook
def test_pictures_have_an_alternative_text(path):
    assert [*without_alternative(path)] == [], "cells whose pictures have none; CONTRIBUTING.md says how to write it"
    for alt, _ in (found for text in prose(path) for found in re.findall(r"!\[([^]]*)\]\(([^)]+)\)", text)): assert len(alt) > 20, alt

@each_notebook
def test_no_widget_is_left_on_the_site(site, path):
    "Quarto would fetch scripts for it"
    page = json.loads((site.folder/path.relative_to(NBS)).read_text(encoding="utf-8"))
    assert "widgets" not in page["metadata"]
    assert not [o for _, _, outputs in site.pages[path].cells for o in outputs if any("widget" in kind for kind in o.get("data", {}))]

def test_pages_fit_a_phone_and_a_desk(site, chromium):
    "Nothing scrolls sideways but in itself, and 100 characters of code fit beside the two columns of a desk; see rendering.py"
    pages = {path.stem: page.cells for path, page in site.pages.items()}
    try: document = rendering.document(pages)
    except rendering.Missing as e: pytest.skip(str(e))
    file = site.copy.parent/"all.html"
    file.write_text(document, encoding="utf-8")
    with page_of(chromium) as page:
        page.goto(file.as_uri())
        for width in (1280, 390):
            page.set_viewport_size(dict(width=width, height=900))
            assert page.evaluate(rendering.TOO_WIDE) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if width == 1280:
                assert page.evaluate(rendering.COLUMNS) >= 100
                cut, printed = page.evaluate(rendering.CUT)
                assert printed > 1000 and cut < .03*printed, f"{cut} of {printed} printed blocks scroll: print narrower tables"
        assert not [url for url in page.requests if not url.startswith(("data:", "file:"))]

ACTIVE = ("text/html", "text/markdown", "image/svg+xml", "application/javascript")

@each_notebook
def test_outputs_refer_to_nothing_outside(site, path):
    "No file that is not on the site, and nothing that is fetched from elsewhere"
    for kind, source, outputs in site.pages[path].cells:
        for data in (o.get("data", {}) for o in outputs):
            for shown in (join(text) for kind, text in data.items() if kind in ACTIVE):
                for tag, to in re.findall(r"<(\w+)[^>]*?\s(?:src|href|xlink:href|data)\s*=\s*[\"']?([^\"'\s>]+)", shown):
                    assert to.startswith(("data:", "#")) or tag == "a" and to.startswith("https:"), f"<{tag} {to}"
                assert not re.search(r"@import|url\((?![\"']?(data:|#))|\brequire\(|!\[[^]]*\]\((?!data:)", shown), source
        if kind == "markdown": assert "attachment:" not in source

# ---- Markdown, as Pandoc reads it

def mistakes(text):
    "What Pandoc would not read as it was meant; it wants an empty line before lists, tables, headings, quotes and code"
    kind, table = "", 0                                     # of the line before; how many cells its table has
    for line in re.sub(r"<!--.*?-->", "", text, flags=re.S).splitlines():
        before, item = kind, re.match(r"(\s*)([-*+]|\(?(\d+|[a-z])[.)])\s+\S", line)
        if before == "code": kind = "after code" if line.startswith("```") else "code"
        elif not line.strip(): kind = ""
        elif line.startswith("```"): kind = "code"
        elif re.match(r"#+ ", line): kind = "heading"
        elif item: kind = "list"
        elif line.startswith(" ") and before == "list": kind = "list"
        elif line.startswith("    ") and before in ("", "indented"): kind = "indented"
        elif line.startswith("|"): kind = "table"
        elif line.startswith(">"): kind = "quote"
        elif re.fullmatch(r"-{3,}|={3,}", line): kind = "rule"
        else: kind = "prose"
        new = kind != before and kind not in ("", "after code")
        if new and kind != "prose" and before not in ("", "heading", "after code"): yield f"no empty line before {kind}: {line}"
        if new and before in ("table", "list", "quote", "indented"): yield f"no empty line after {before}: {line}"
        if kind == "prose" and re.match(r"#+\w|:::|\[\^|: |~~~", line): yield f"neither prose nor heading: {line}"
        if kind == "table":
            row = re.sub(r"`[^`]*`", "code", line.replace(r"\|", "")).strip()
            if before != "table": table, place = row.count("|"), 0
            if row.count("|") != table or row[-1] != "|": yield f"a row with more or fewer cells: {line}"
            if place == 1 and not re.fullmatch(r"\|(:?-+:?\|)+", row.replace(" ", "")): yield f"no line below the head: {line}"
            if "|" in "".join(re.findall("`([^`]*)`", line.replace(r"\|", ""))): yield f"a bar in code ends the cell: {line}"
            place += 1
    if kind == "code": yield "code without an end"
    yield from mistakes_in_a_line(without_formulas(without_code(text)))
    for formula in re.findall(r"\$\$(.*?)\$\$|\$(?!\s)([^$]*?)(?<!\s)\$(?!\d)", without_code(text), flags=re.S):
        formula = "".join(formula)
        if "\n\n" in formula or re.search(r"(^|[^\\]){2}(?=%)", formula): yield f"an empty line or % in a formula: {formula}"
        bare = re.sub(r"\\[\\{}|]", "", formula)
        if bare.count("{") != bare.count("}"): yield f"braces: {formula}"
        for one, other in ((r"\\begin\{(\w+\*?)\}", r"\\end\{(\w+\*?)\}"), (r"\\(left)\b", r"\\(right)\b")):
            if len(re.findall(one, formula)) != len(re.findall(other, formula)): yield f"{one} without {other}: {formula}"

def mistakes_in_a_line(text):
    text = re.sub(r"<https?:[^>]*>", "", text)
    for what, pattern in dict(
            formula=r"\$", citation=r"(?<![\w.])-?@\w", tag=r"</?[A-Za-z][^>]*>", command=r"\\[A-Za-z]+",
            subscript=r"~\S[^~\s]*~", superscript=r"\^\S[^^\s]*\^", shortcode=r"\{\{[<%]", attribute=r"\]\{",
            note=r"\^\[|\[\^", reference=r"\]\[", empty=r"\]\(\)",
            emphasis=r"(?<![\w*])\*\*?(?=[^\s*])[^*]*\s\*\*?(?!\w)").items():
        if not re.search(pattern, text): continue                                       # the search for whole lines takes long
        for found in re.findall(rf".*(?:{pattern}).*", text): yield f"is read as {what}: {found}"

@each_text
def test_markdown_will_be_read_as_meant(path):
    assert [m for text in prose(path) for m in mistakes(text)] == []

@each_notebook
def test_entries_will_be_read_as_meant(site, path):
    page = site.pages[path]
    for _, entry in page.entries:
        assert [*mistakes(re.sub(r"\{target=.*?\}", "", entry))] == []
        assert "](" not in "".join(re.findall(r"^```.*?^```", entry, re.M | re.S)), "a link in code is shown as it is written"

def pandoc(text, *options):
    "What Pandoc makes of a text, and its complaints: the one of Quarto, or any"
    command = ["quarto", "pandoc"] if shutil.which("quarto") else ["pandoc"]
    if not shutil.which(command[0]): pytest.skip("there is no Pandoc")
    done = subprocess.run([*command, "-f", "markdown", *options], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr

@each_notebook
def test_pandoc_agrees(site, path):
    "Where there is one: formulas become MathML, headings have the ids that links expect, and nothing is read as what it is not"
    page = site.pages[path]
    text = re.sub(r"^```{=html}.*?^```|<!--.*?-->", "", page.text, flags=re.M | re.S)
    html, said = pandoc(text, "-t", "html", "--mathml", "--wrap", "none")
    assert not said and 'class="math' not in html
    assert re.findall(r'<h\d\s+[^>]*?id="([^"]+)"', html) == page.anchors
    kinds = set(re.findall(r'"t":"(\w+)"', pandoc(text, "-t", "json")[0]))
    assert not kinds & {"Cite", "Subscript", "Superscript", "Strikeout", "LineBlock", "DefinitionList", "Note", "RawInline"}
    paragraphs = re.findall(r"<p>(.*?)</p>", re.sub(r"<code>.*?</code>|<math.*?</math>", "", html, flags=re.S), re.S)
    assert not [p for p in paragraphs if re.search(r"(^|\n)\s*([-*+]|\d+[.)]|#+|\||&gt;|```)\s|\$|\*\*|\|---", p)]
