"The repository itself: what a reader relies on without looking"
import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(p for p in (ROOT/"nbs").rglob("*.ipynb") if not any(part[0] in "._" for part in p.relative_to(ROOT).parts))
MODULES = sorted(p for p in (ROOT/"nmf2").glob("*.py") if not p.name.startswith("_"))
LEFT_BEHIND = {".git", ".venv", "build", "dist", "_docs", "_proc", ".quarto", "nmf2-results",
               "__pycache__", ".ipynb_checkpoints", ".pytest_cache", ".hypothesis", "nmf2.egg-info"}

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
each_module = pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)

def cells(path, kind=None):
    "The cells of a notebook, as (kind, source, outputs)"
    for c in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if kind in (None, c["cell_type"]): yield c["cell_type"], "".join(c["source"]), c.get("outputs", [])

def exports_to(path):
    "The module a notebook is exported to, or None"
    found = [re.match(r"#\|\s*default_exp\s+(\S+)", s) for _, s, _ in cells(path, "code")]
    return next((m.group(1) for m in found if m), None)

PAGES = re.findall(r"[\w/-]+\.ipynb", (ROOT/"_quarto.yml").read_text(encoding="utf-8").split("sidebar:")[1])
NUMBER = {exports_to(p): p.stem.split("_")[0] for p in NOTEBOOKS if exports_to(p)}   # module: its decade and number
PLACE = {module: (n, PAGES.index(f"{n}_{module}.ipynb")) for module, n in NUMBER.items()}    # and where it stands in the book

# ---- the notebooks

@each_notebook
def test_notebook_opens_with_a_title_and_a_summary(path):
    first = next(s for _, s, _ in cells(path, "markdown"))
    assert re.match(r"# \S.*\n\n> \S", first), "the first prose is '# title', an empty line, '> summary'"
    if name := exports_to(path):
        assert first.startswith(f"# {name}\n")
        assert [*cells(path)][0][1] == f"#| default_exp {name}"
        assert path.stem == f"{NUMBER[name]}_{name}"

@each_notebook
def test_notebook_has_one_title_and_two_kinds_of_headings(path):
    marks = [h for _, s, _ in cells(path, "markdown")
             for h in re.findall(r"^(#+) ", re.sub(r"^```.*?^```", "", s, flags=re.M | re.S), re.M)]
    assert marks[0] == "#" and set(marks[1:]) <= {"##", "####"}

@each_notebook
def test_notebook_was_saved_light_and_without_errors(path):
    assert not [o for _, _, outs in cells(path) for o in outs if o["output_type"] == "error"]
    assert path.stat().st_size < 1_500_000
    assert all(c.get("execution_count") is None for c in json.loads(path.read_text(encoding="utf-8"))["cells"])

@each_notebook
def test_saved_explorers_are_those_of_today(path):
    from nmf2.widgets import TreeExplorer
    saved = json.loads(path.read_text(encoding="utf-8"))["metadata"].get("widgets", {"": {"state": {}}})
    for widgets in saved.values():
        for widget in widgets["state"].values():
            if widget["model_module"] != "anywidget": continue
            assert widget["state"]["_esm"] == TreeExplorer._esm, "run the notebook again"
            assert widget["state"]["_css"] == TreeExplorer._css, "run the notebook again"

TABLES = {"cbe2b835", "5ee920eb", "b3d63040"}          # cells that print tables for programs, or what stands beside it as HTML

@each_notebook
def test_code_and_print_fit_the_page(path):
    "Lines of code that the site shows have at most 100 characters, printed ones 75, or a few more where they are words of topics"
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or re.match(r"#\|\s*(export(?!s)|hide|default_exp)", source): continue
        assert not [line for line in source.splitlines() if len(line) > 100 and not line.startswith("#|")]
        for out in cell["outputs"]:
            data = out.get("data", {})
            printed = "".join(out.get("text", data.get("text/plain", "")))
            if data.keys() <= {"text/plain"} and cell["id"] not in TABLES: assert max(map(len, printed.split("\n"))) <= 80, printed

@each_notebook
def test_imports_share_no_cell_with_other_code(path):
    for _, source, _ in cells(path, "code"):
        if not source.startswith(("#| export", "#|export")): continue
        kinds = {isinstance(n, (ast.Import, ast.ImportFrom)) for n in ast.parse(source).body}
        assert len(kinds) < 2, source

def test_every_notebook_is_on_the_site():
    assert sorted(PAGES) == sorted(p.relative_to(ROOT/"nbs").as_posix() for p in NOTEBOOKS)

def test_every_module_has_its_notebook():
    assert sorted(p.stem for p in MODULES) == sorted(NUMBER)

# ---- the package

def imports(tree):
    "What a piece of code imports, as dotted names"
    for n in ast.walk(tree):
        if isinstance(n, ast.Import): yield from (a.name for a in n.names)
        elif isinstance(n, ast.ImportFrom) and n.level == 0: yield n.module
        elif isinstance(n, ast.ImportFrom): yield ".".join(["nmf2", n.module or n.names[0].name])

@each_module
def test_imports_flow_one_way(path):
    on_call = {"answers", "editing", "over_time", "page", "plots", "scale", "scale_answers", "scale_texts", "scale_topics", "support", "topicfile", "treefile", "updating", "widgets"}     # trees draw and save themselves: they import these when asked to
    names = {m.split(".")[1] for m in imports(ast.parse(path.read_text(encoding="utf-8"))) if m.startswith("nmf2.")}
    assert {m for m in names - on_call if PLACE[m] >= PLACE[path.stem]} == set()

@each_module
def test_private_names_stay_in_their_module(path):
    taken = [f"{n.module}.{a.name}" for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
             if isinstance(n, ast.ImportFrom) and (n.level or (n.module or "").startswith("nmf2"))
             for a in n.names if re.match(r"_(?!_)", a.name)]
    assert taken == []

@each_module
def test_warnings_look_for_the_line_of_the_caller(path):
    "No fixed stacklevel, but where Python's own machinery calls: for a name that has moved, and amid numba's compiler"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    asked = {id(call) for n in tree.body if getattr(n, "name", "") in ("__getattr__", "instructions_work") for call in ast.walk(n)}
    fixed = [k.value.lineno for n in ast.walk(tree) if isinstance(n, ast.Call) and id(n) not in asked
             for k in n.keywords if k.arg == "stacklevel" and isinstance(k.value, ast.Constant)]
    assert fixed == []
    if path.stem == "cli": return                      # it prints its warnings itself
    warned = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "warnings.warn" and id(n) not in asked]
    assert [n.lineno for n in warned if "stacklevel" not in [k.arg for k in n.keywords]] == []

@each_module
def test_library_does_without_nbdev(path):
    tops = {m.split(".")[0] for m in imports(ast.parse(path.read_text(encoding="utf-8")))}
    assert not tops & {"nbdev", "fastcore", "execnb", "ghapi"}

@each_notebook
def test_notebooks_do_without_nbdev(path):
    code = "\n".join(s for _, s, _ in cells(path, "code"))
    assert not re.search(r"^\s*(import|from) (nbdev|fastcore|execnb|ghapi)\b", code, re.M)

def undocumented(fn, lines, skip):
    "The parameters after the first few that have no comment on their line, nor an earlier one on 'this and the following'"
    a, missing = fn.args, []
    for p in [*a.posonlyargs, *a.args, *filter(None, [a.vararg]), *a.kwonlyargs, *filter(None, [a.kwarg])][skip:]:
        said = re.search(r"#\s*(\S.*)", lines[p.lineno - 1])
        if said and "following" in said[1]: break
        if not said: missing.append(p.arg)
    return missing

def becomes_a_method(n):
    "Is this a public function that is added to its class, by `patch_to`?"
    return any(isinstance(d, ast.Call) and d.func.id == "patch_to" for d in getattr(n, "decorator_list", [])) and n.name[0] != "_"

def is_static(n):
    "Is it added as a `staticmethod`, so that its first parameter is one like the others?"
    return "staticmethod" in [getattr(a, "id", "") for d in n.decorator_list if isinstance(d, ast.Call) for a in d.args]

@each_module
def test_exported_names_are_explained(path):
    text = path.read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    public = next(ast.literal_eval(n.value) for n in tree.body
                  if isinstance(n, ast.Assign) and n.targets[0].id == "__all__")
    for n in tree.body:
        if getattr(n, "name", None) not in public and not becomes_a_method(n): continue
        assert ast.get_docstring(n), f"{n.name} has no docstring"
        is_method = re.search(rf"^[A-Z]\w*\.\w.* = .*\b{n.name}\b", text, re.M)         # Reader.find = find
        is_method = is_method or becomes_a_method(n) and not is_static(n) or isinstance(n, ast.ClassDef)
        if isinstance(n, ast.ClassDef): n = next((m for m in n.body if getattr(m, "name", "") == "__init__"), None)
        missing = undocumented(n, lines, bool(is_method)) if n else []
        assert not missing, f"{n.name}, line {n.lineno}: {missing} not explained"

def test_importing_the_package_is_cheap():
    code = "import sys, nmf2; print(sorted({'sklearn', 'matplotlib', 'scipy', 'numba', 'ipywidgets'} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert out.stdout.strip() == "[]"

def test_the_names_promised_are_there():
    import nmf2
    for name in nmf2.__all__: assert getattr(nmf2, name).__name__ == name
    assert re.search(rf"^version = {re.escape(nmf2.__version__)}$", (ROOT/"settings.ini").read_text(), re.M)

# ---- the rest

def test_readme_is_current():
    out = subprocess.run([sys.executable, ROOT/".ci"/"readme.py", "--check"], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr

def test_readme_has_two_commands():
    for which in ("install", "test"):
        out = subprocess.run([sys.executable, ROOT/".ci"/"readme.py", "--command", which], capture_output=True, text=True)
        assert out.returncode == 0 and out.stdout.count("\n") == 1, out.stderr

def test_changelog_has_this_version():
    import nmf2
    assert re.search(rf"^## \[?{re.escape(nmf2.__version__)}\]?", (ROOT/"CHANGELOG.md").read_text(encoding="utf-8"), re.M)

@pytest.mark.slow
def test_files_speak_of_the_project_and_not_of_a_machine():
    places = re.compile(r"(?<![\w.<])/(work|tmp|home|root|Users)/\w|\bpypi\.org|\bfiles\.pythonhosted\b|(?<!\w)[A-Z]:\\Users\\")
    for path in ROOT.rglob("*"):
        if LEFT_BEHIND & set(path.relative_to(ROOT).parts) or not path.is_file(): continue
        try: text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError: continue
        found = places.search(text)
        assert not found, f"{path.relative_to(ROOT)}: {text[max(0, found.start() - 30):found.end() + 30]!r}"
