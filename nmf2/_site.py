"""What pages of the website need beyond nbdev's own processing: settings.ini names it, nothing else imports it."""
import ast
import os
import re
from importlib import import_module
from inspect import getsource, isclass, isfunction, unwrap
from operator import attrgetter
from pathlib import Path

from execnb.nbio import mk_cell
from nbdev.config import get_config
from nbdev.doclinks import NbdevLookup, _lineno
from nbdev.process import Processor
from nbdev.showdoc import show_doc

def module_of(nb):
    "The module that a page explains, or None"
    try: return import_module(f"nmf2.{nb.frontmatter_['title']}")
    except ImportError: return None

def imported(source):
    "What a cell imports from nmf2, as (name, object)"
    try: tree = ast.parse(source)
    except SyntaxError: return                      # commands for a shell
    for n in ast.walk(tree):
        if isinstance(n, ast.ImportFrom) and (n.module or "").split(".")[0] == "nmf2":
            for a in n.names: yield a.asname or a.name, getattr(import_module(n.module), a.name)

def explained(f):
    "Is this a public method with a docstring?"
    f = getattr(f, "__func__", f)                                       # of a static method
    own = isfunction(f) and f.__module__.startswith("nmf2.")            # matplotlib makes methods for every class of text
    return own and bool(f.__doc__) and bool(re.fullmatch(r"\w+\.[a-z]\w*", f.__qualname__))

def completed(entry, thing):
    "The entry with the comments that nbdev leaves out or puts elsewhere: on `**options`, and on a result without a type"
    lines = getsource(unwrap(getattr(thing, "py_func", thing))).splitlines()
    options = result = ""
    for line in lines[next((i for i, line in enumerate(lines) if re.match(r"\s*def ", line)), len(lines)):]:
        code, _, said = (part.strip() for part in line.partition("#"))
        if said and code.startswith("**"): options = f", # {said}"
        if said and code.endswith(":"): result = f" # {said}"
        if code.endswith(":"): break
    entry = re.sub(r"\*\*\w+(?=\n\))", lambda found: found[0] + options, entry, count=1)
    return re.sub(r"^(\).*?:)( # .*)?(?=\n```)", lambda found: found[1] + result, entry, count=1, flags=re.M)

class Methods(Processor):
    "Entries for the methods of each class, below its own entry and source; those with a cell of their own have one there"
    def begin(self):
        module, cells, waiting = module_of(self.nb), [], []
        there = set(re.findall(r"^show_doc\((\w+\.\w+)\)$", "\n".join(cell.source for cell in self.nb.cells), re.M))
        for cell in self.nb.cells:
            if "code-summary" not in cell.source: cells, waiting = cells + waiting, []
            cells.append(cell)
            shown = re.search(r"^show_doc\((\w+)\)$", cell.source, re.M)
            if shown and isclass(cls := getattr(module, shown[1], None)):
                methods = [getattr(f, "__func__", f) for f in vars(cls).values() if explained(f)]
                waiting += [self.entry(f) for f in methods if f.__qualname__ not in there]
        self.nb.cells = cells + waiting

    def entry(self, f):
        cell = mk_cell(f"#| echo: false\n#| output: asis\nshow_doc({f.__qualname__})")
        data = {"text/markdown": show_doc(f)._repr_markdown_().splitlines(keepends=True)}
        cell.outputs = [dict(output_type="display_data", metadata={}, data=data)]
        return cell

def html_as_text(cell):
    "HTML that a cell shows becomes a piece of the page, also in place of a widget: else Quarto would have scripts fetched for it"
    for out in cell.get("outputs", []):
        html = "".join(out.get("data", {}).get("text/html", ""))
        if html and "```" not in html and "require" not in html:
            out["data"] = {"text/markdown": f"```{{=html}}\n{html}\n```\n".splitlines(keepends=True)}

class Links(Processor):
    """Links from names in backticks to their entries, and from pages to files of the repository that are not on the site.

    In place of nbdev's `add_links`, which also puts links into code, takes the wrong one of two functions with the same name,
    and links every word that happens to be a function somewhere.
    """
    def begin(self):
        self.config, self.lookup = get_config(), NbdevLookup()
        self.folder, self.module = Path(self.nb.path_).resolve().parent, module_of(self.nb)
        self.names = dict(vars(self.module)) if self.module else {}
        for cell in self.nb.cells:
            if cell.cell_type == "code": self.names.update(imported(cell.source))
        methods = {name for name, thing in self.names.items() if isfunction(thing) and "." in thing.__qualname__}
        self.names = {name: thing for name, thing in self.names.items() if name not in methods}     # `patch_to` leaves them

    def cell(self, cell):
        if cell.cell_type == "markdown": cell.source = self.linked(cell.source)
        for out in cell.get("outputs", []):
            if "text/markdown" not in out.get("data", {}): continue
            text = "".join(out["data"]["text/markdown"])
            if shown := re.search(r"^show_doc\(([\w.]+)\)$", cell.source, re.M):
                text = text.replace("__main__.", "").replace(":NoneType=None", "=None")
                text = re.sub(r"(?<=^\[source\]\()[^)]+", lambda _: self.source(shown[1]), text, flags=re.M)
                text = completed(text, attrgetter(shown[1])(self.module))
            out["data"]["text/markdown"] = self.linked(text).splitlines(keepends=True)

    def source(self, name):
        "Where on GitHub this page's function or class begins"
        _, file, url = self.lookup[f"{self.module.__name__}.{name}"]
        return f"{url}#L{_lineno(name, file)}"

    def linked(self, text):
        "A text with links; headings and blocks of code stay as they are"
        parts = re.split(r"(^```.*?^```|^#[^\n]*)", text, flags=re.M | re.S)
        for i in range(0, len(parts), 2):
            parts[i] = re.sub(r"(?<![\[`])`([\w.]+)(?:\(\))?`(?![\]`])", self.name, parts[i])
            parts[i] = re.sub(r"(?<=\]\()\.\./[^)\s]+(?=\))", self.file, parts[i])
        return "".join(parts)

    def name(self, found):
        url = self.page(found[1]) or self.entry(found[1])
        return f"[{found[0]}]({url})" if url else found[0]

    def file(self, found):
        "A link that leads out of the site's folder, to the repository instead"
        to, mark, part = found[0].partition("#")
        path, c = (self.folder/to).resolve(), self.config
        if path.is_relative_to(c.nbs_path.resolve()): return found[0]
        kind = "tree" if path.is_dir() else "blob"
        return f"{c.git_url}/{kind}/{c.branch}/{path.relative_to(c.config_path.resolve()).as_posix()}{mark}{part}"

    def page(self, name):
        "The page of a notebook, or None"
        path = self.config.nbs_path/f"{name}.ipynb"
        return os.path.relpath(path, self.folder) if re.match(r"\d\d_", name) and path.exists() else None

    def entry(self, name):
        "The address of the entry for a name, or None"
        first, *rest = name.removeprefix("nmf2.").split(".")
        thing, url = self.names.get(first), None
        if thing is None and (first != first.lower() or "_" in first): thing = self.anywhere(first)     # no everyday word
        for part in (*rest, None):
            full = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
            if "._" not in full and full in self.lookup.syms and (full.count(".") == 2 or explained(thing)):
                url = self.lookup.doc(full)
            thing = getattr(thing, part, None) if part else None
        return url

    def anywhere(self, name):
        "The public function or class of that name in any module, or None"
        modules = [full.split(".")[1] for full in self.lookup.syms if full.startswith("nmf2.") and full.split(".")[2:] == [name]]
        return getattr(import_module(f"nmf2.{modules[0]}"), name) if modules else None
