"""What pages of the website need beyond nbdev's own processing: settings.ini names it, nothing else imports it."""
import ast
import os
import re
from contextlib import redirect_stdout
from importlib import import_module
from inspect import getattr_static, getdoc, getfile, getsource, isclass, isfunction, unwrap
from io import StringIO
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent, fill
from tokenize import COMMENT, TokenError, generate_tokens
from warnings import catch_warnings, simplefilter

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

def definition(thing):
    "The lines of a function, of a class's `__init__`, or of a class with fields, and what Python makes of them"
    thing = thing.fget if isinstance(thing, property) else unwrap(getattr(thing, "py_func", thing))
    init = unwrap(thing.__init__) if isclass(thing) else None
    if isfunction(init) and init.__code__.co_filename == getfile(import_module(thing.__module__)): thing = init     # not a dataclass's
    source = dedent(getsource(thing))
    return source.splitlines(), ast.parse(source).body[0]

def remark(line):
    "The comment at the end of a line, and nothing if what looks like one is in a string"
    try: return next((t.string[1:].strip() for t in generate_tokens(StringIO(line).readline) if t.type == COMMENT), "")
    except (TokenError, IndentationError): return line.partition("#")[2].strip()         # the line is a part of a statement

def with_default(name, annotation, default):
    "A parameter as (its name, its default, its type), as they are written"
    kind = ast.unparse(annotation).replace(" | ", " or ").strip("'") if annotation else ""
    return name, ast.unparse(default) if default else "", kind

def parameters(tree):
    "The parameters of a function in their order, as (line, (name, default, type)); or the fields of a class"
    if isinstance(tree, ast.ClassDef):
        for n in tree.body:
            if isinstance(n, ast.AnnAssign): yield n.lineno, with_default(n.target.id, n.annotation, n.value)
        return
    a = tree.args
    plain = [*a.posonlyargs, *a.args]
    defaults = [None]*(len(plain) - len(a.defaults)) + a.defaults
    for p, default in zip(plain, defaults): yield p.lineno, with_default(p.arg, p.annotation, default)
    if a.vararg: yield a.vararg.lineno, with_default(f"*{a.vararg.arg}", a.vararg.annotation, None)
    elif a.kwonlyargs: yield 0, ("*", "", "")
    for p, default in zip(a.kwonlyargs, a.kw_defaults): yield p.lineno, with_default(p.arg, p.annotation, default)
    if a.kwarg: yield a.kwarg.lineno, with_default(f"**{a.kwarg.arg}", a.kwarg.annotation, None)

def signature(name, found):
    "How it is called, in lines of at most 88 characters"
    parts = [f"{what}={default}" if default else what for _, (what, default, _) in found]
    text = f"{name}({', '.join(parts)})"
    if len(text) <= 88: return text
    return f"{name}(\n" + fill(", ".join(part.replace(" ", "\0") for part in parts), 84, initial_indent="    ",
        subsequent_indent="    ", break_long_words=False, break_on_hyphens=False).replace("\0", " ") + ",\n)"

def cell_of_table(text):
    "A comment as Pandoc reads it in a cell: what would mean something else outside code and formulas is escaped"
    parts = re.split(r"(`[^`]*`|\$(?!\s)[^$]*?(?<!\s)\$(?!\d))", text)
    parts[::2] = [re.sub(r"([|*<~^@$\[\]])", r"\\\1", part.replace("\\", "&#92;")) for part in parts[::2]]
    return "".join(parts)

def table(lines, tree, found):
    """What is said of each parameter and of the result, as a table; nothing if nothing is said.

    Names stand in two backticks each, so that none becomes a link to a function that is called alike.
    """
    rows, said, gives = {}, [], getattr(tree, "returns", None)
    for number, part in found: rows.setdefault(number, []).append(part)
    head = lines if isinstance(tree, ast.ClassDef) else lines[:tree.body[0].lineno - 1]
    for number, line in enumerate(head, 1):
        text = remark(line)
        if text and number in rows and not line.partition(" #")[0].rstrip().endswith(":"):
            kinds = [" = ".join(filter(None, [kind, f"`{default}`" if default else ""])) for _, default, kind in rows[number]]
            said.append((", ".join(f"`` {name} ``" for name, _, _ in rows[number]), text, ", ".join(filter(None, kinds))))
        elif text and line.partition(" #")[0].rstrip().endswith(":") and head is not lines:
            said.append(("*result*", text, with_default("", gives, None)[2]))
    if not said: return ""
    body = "\n".join(f"| {what} | {cell_of_table(text)} | {kind} |" for what, text, kind in said)
    return f"| parameter | what it is | type |\n|:---|:-------|:---|\n{body}\n\n"

def takes_itself(module, name):
    "Is the first parameter of this the object itself, or its class, which nobody writes?"
    owner, _, short = name.rpartition(".")
    if not owner: return isclass(getattr(module, name))
    return not isinstance(getattr_static(attrgetter(owner)(module), short), staticmethod)

def with_table(entry, module, name):
    "An entry of nbdev's with its parameters as a table, and how it is called without what stands there"
    thing = attrgetter(name)(module)
    lines, tree = definition(thing)
    is_class = isinstance(tree, ast.ClassDef)
    found = [*parameters(tree)][takes_itself(module, name) and not is_class:]
    call = name if isinstance(thing, property) else signature(name, found)
    code = "" if is_class and not found else f"```python\n{call}\n```\n"
    head, _, rest = re.split(r"(^```python\n.*?^```\n?)", entry, maxsplit=1, flags=re.M | re.S)
    summary, _, more = rest.strip("\n").partition("\n\n")
    return f"{head}{code}\n{summary}\n\n{table(lines, tree, found)}{more}".rstrip() + "\n"

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

WIDGET = "application/vnd.jupyter.widget-view+json"

class Still(Processor):
    "Widgets stand still on the site, where they would be empty and have scripts fetched for them: their text or HTML is shown"
    def begin(self): self.nb.metadata.pop("widgets", None)

    def cell(self, cell):
        for out in cell.get("outputs", []): out.get("data", {}).pop(WIDGET, None)

COLUMNS = re.compile(r"[^\s,(\[] {2,}\S")          # more than one space between them, but no row of an array

def wrap_sentences(cell):
    "Printed lines that are long and no rows of a table, such as messages, wrap; tables scroll in themselves (theme.scss)"
    texts = ["".join(o.get("text", o.get("data", {}).get("text/plain", ""))) for o in cell.get("outputs", [])]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    if max(map(len, lines), default=0) <= 40: return                                    # fits on a phone
    if sum(bool(COLUMNS.search(line)) for line in lines) < 2: cell.source = f"#| classes: wrapped\n{cell.source}"

def html_as_text(cell):
    "HTML that a cell shows becomes a piece of the page, also in place of a widget: else Quarto would have scripts fetched for it"
    for out in cell.get("outputs", []):
        html = "".join(out.get("data", {}).get("text/html", ""))
        if html and "```" not in html and "require" not in html:
            out["data"] = {"text/markdown": f"```{{=html}}\n{html}\n```\n".splitlines(keepends=True)}

class Here(Processor):
    "What a page has only on the site, in place of a comment such as `<!-- here: names -->`"
    def begin(self): self.config = get_config()

    def cell(self, cell):
        if cell.cell_type != "markdown": return
        found = re.search(r"<!-- here: (\w+) -->", cell.source)
        if found: cell.source = cell.source.replace(found[0], "\n\n" + getattr(self, found[1])())

    def changelog(self):
        "The changelog without its title; its links count from the top of the repository"
        text = (self.config.config_path/"CHANGELOG.md").read_text(encoding="utf-8").partition("\n## ")[2]
        return re.sub(r"\]\((?![a-z]+:|#)([^)\s]+)\)", r"](../../\1)", "## " + text)

    def demo(self):
        "The page of the demo, made beside this one: too large to keep in the repository"
        from nmf2.cli import main
        page = self.config.config_path/"_proc"/"guide"/"demo.html"
        with TemporaryDirectory() as folder, redirect_stdout(StringIO()):
            assert main(["demo", "--quiet", "--out", folder]) == 0
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_bytes((Path(folder)/"tree.html").read_bytes())
        frame = '<iframe src="demo.html" title="The tree of the demo" height="646" style="height: 38rem"></iframe>'
        return f"[In a window of its own](demo.html)\n\n```{{=html}}\n{frame}\n```"

    def names(self):
        "All public functions, classes and methods with the first lines of their docstrings, from A to Z"
        entries = {}
        for path in sorted(self.config.lib_path.glob("[!_]*.py")):
            module = import_module(f"nmf2.{path.stem}")
            own = {name: getattr(module, name) for name in module.__all__}
            own = {name: t for name, t in own.items() if callable(t) and getattr(t, "__module__", "") == module.__name__}
            for cls in [t for t in own.values() if isclass(t)]:
                own |= {f.__qualname__: f for f in (getattr(f, "__func__", f) for f in vars(cls).values()) if explained(f)}
            for name, thing in own.items(): entries[name, path.stem] = (getdoc(thing) or "").partition("\n")[0]
        lines, letter = [], ""
        for (name, module), said in sorted(entries.items(), key=lambda e: (e[0][0].lower(), e[0][1])):
            if name[0].upper() != letter: lines += ["", f"## {(letter := name[0].upper())}", ""]
            lines.append(f"- [`{name}`](../{module}.html#{name.lower()}) ({module}): {said}")
        return "\n".join(lines).strip()

class Top(Processor):
    "Below the title of a page, its names to look up, and the page as a notebook to download or to open elsewhere"
    def begin(self):
        self.config, module = get_config(), module_of(self.nb)
        texts = [self.names(module)] if module else []
        cells = [mk_cell(text, "markdown") for text in [*texts, self.notebook()]]
        home = Path(self.nb.path_).stem == "index"                          # opens with what it is about
        self.nb.cells = self.nb.cells + cells if home else [self.nb.cells[0], *cells, *self.nb.cells[1:]]

    def names(self, module, most=8):
        "Links to the entries of a module: first what `nmf2` has itself, then estimators, other classes, and functions"
        import nmf2
        own = {name: getattr(module, name) for name in module.__all__}
        own = [name for name, t in own.items() if callable(t) and getattr(t, "__module__", "") == module.__name__]
        own.sort(key=lambda name: (name not in nmf2.__all__, not hasattr(getattr(module, name), "fit"), not isclass(getattr(module, name))))
        more = f", and {len(own) - most} more" if len(own) > most else ""
        return f"Look up {', '.join(f'`{name}`' for name in own[:most])}{more}; or [all names from A to Z](guide/names.ipynb)."

    def notebook(self):
        "A copy of the notebook among the pages, under a name that Quarto does not take for a page, and where else it opens"
        path, c = Path(self.nb.path_).resolve(), self.config
        place = path.relative_to(c.nbs_path.resolve())
        copy = c.config_path/"_proc"/"notebooks"/place.with_suffix(".json")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
        here = Path(os.path.relpath(c.nbs_path/"notebooks"/place.with_suffix(".json"), path.parent)).as_posix()
        colab = f"https://colab.research.google.com/github/{c.user}/{c.repo}/blob/{c.branch}/{c.nbs_path.name}/{place.as_posix()}"
        return (f'This page is a notebook: [download it]({here}){{download="{place.name}"}}, or '
                f"[open it in Colab]({colab}) and run `%pip install nmf2` there first.")

class Links(Processor):
    """Links from names in backticks to their entries, and from pages to files of the repository that are not on the site.

    In place of nbdev's `add_links`, which also puts links into code, takes the wrong one of two functions with the same name,
    and links every word that happens to be a function somewhere.
    """
    def begin(self):
        self.config, self.lookup = get_config(), NbdevLookup()
        self.folder, self.module = Path(self.nb.path_).resolve().parent, module_of(self.nb)
        self.names = dict(vars(self.module)) if self.module else {}
        own = [full.split(".") for full in self.lookup.syms if full.startswith("nmf2.") and full.count(".") == 2]
        self.public = {name: module for _, module, name in reversed(own)}                    # of several modules the first
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
                text = re.sub(r"(?<=^\[source\]\()[^)]+", lambda _: self.source(shown[1]), text, flags=re.M)
                text = with_table(text, self.module, shown[1])
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
        "The address of the entry for a name, or None; of what is in an object, that of its class at least"
        first, *rest = name.removeprefix("nmf2.").split(".")
        thing, url = self.names.get(first), None
        if rest and name.startswith("nmf2."): thing = self.module_called(first)
        elif thing is None and (first != first.lower() or "_" in first): thing = self.anywhere(first)     # no everyday word
        for part in (*rest, None):
            full = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
            there = "._" not in full and full in self.lookup.syms and (full.count(".") == 2 or explained(thing))
            if there and (part is None or isclass(thing)): url = self.relative(self.lookup.doc(full))
            with catch_warnings():
                simplefilter("ignore")                                  # a name of old, in the changelog
                thing = getattr(thing, part, None) if part else None
        return url

    def module_called(self, name):
        "The module of that name, or None"
        try: return import_module(f"nmf2.{name}")
        except ImportError: return None

    def relative(self, url):
        "An address on the site as it is seen from this page, so that a local copy or a fork leads to its own pages"
        page, mark, part = url.removeprefix(f"{self.config.doc_host}{self.config.doc_baseurl}/").partition("#")
        return Path(os.path.relpath(self.config.nbs_path/page, self.folder)).as_posix() + mark + part

    def anywhere(self, name):
        "The public function or class of that name in any module, or None"
        module = self.public.get(name)
        return getattr(import_module(f"nmf2.{module}"), name) if module else None
