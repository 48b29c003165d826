#!/usr/bin/env python3
"""Stubs for type checkers: what the package offers, with its types, as `.pyi` files.

    python3 .ci/stubs.py FOLDER         write one stub for each module into FOLDER

The modules add methods to classes with `patch_to`, in other cells and other modules. A type checker does not see that.
In a stub each method stands in its class, and so do the attributes that methods set. Needs nothing but Python.
"""
import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = {"property", "staticmethod", "classmethod", "contextmanager", "dataclass"}       # decorators that change what callers see

def name_of(node):
    "The last part of a decorator's or a base's name"
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")

def annotation(node, default, known):
    "A type as it stands, with `None` if that is the default; nothing for what is no type or not known in this module"
    if node is None or not {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} <= known: return None
    text = ast.unparse(node)
    if isinstance(node, ast.Constant) and not isinstance(node.value, str) and node.value is not None: return None
    is_none = isinstance(default, ast.Constant) and default.value is None
    return f"{text} | None" if is_none and "None" not in text else text

def parameter(arg, default, known):
    "A parameter with its type; that it has a default, not which"
    kind = annotation(arg.annotation, default, known)
    return f"{arg.arg}{f': {kind}' if kind else ''}{' = ...' if default else ''}"

def parameters(a, known):
    "What stands between the parentheses of a definition"
    plain = [*a.posonlyargs, *a.args]
    defaults = [None]*(len(plain) - len(a.defaults)) + a.defaults
    parts = [parameter(arg, default, known) for arg, default in zip(plain, defaults)]
    if a.vararg: parts.append(f"*{a.vararg.arg}")
    elif a.kwonlyargs: parts.append("*")
    parts += [parameter(arg, default, known) for arg, default in zip(a.kwonlyargs, a.kw_defaults)]
    return ", ".join(parts + ([f"**{a.kwarg.arg}"] if a.kwarg else []))

def function(n, known, how=()):
    "The stub of a function"
    marks = [ast.unparse(d) for d in n.decorator_list if name_of(d) in KEPT] + list(how)
    if any(mark.endswith(".setter") for mark in map(ast.unparse, n.decorator_list)): return []
    gives = annotation(n.returns, None, known)
    return [f"@{mark}" for mark in marks] + [f"def {n.name}({parameters(n.args, known)}){f' -> {gives}' if gives else ''}: ..."]

def assigned(tree):
    "The functions that a module makes methods of by assignment, `Reader.find = find`, as (class, method)"
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    for n in tree.body:
        if not isinstance(n, ast.Assign): continue
        for target in n.targets:
            pairs = zip(target.elts, n.value.elts) if isinstance(target, ast.Tuple) and isinstance(n.value, ast.Tuple) else [(target, n.value)]
            for to, value in pairs:
                is_method = isinstance(to, ast.Attribute) and isinstance(to.value, ast.Name) and getattr(value, "id", "") in functions
                if is_method and not to.attr.startswith("_"): yield to.value.id, functions[value.id]

def patches(trees):
    "The methods that are added to classes by `patch_to` or by assignment, as {class: [(method, decorators)]}"
    found = {}
    for tree in trees.values():
        for cls, method in assigned(tree): found.setdefault(cls, []).append((method, []))
        for n in tree.body:
            for d in getattr(n, "decorator_list", []):
                if not (isinstance(d, ast.Call) and name_of(d) == "patch_to" and isinstance(n, ast.FunctionDef)): continue
                how = [name_of(a) for a in [*d.args[1:], *(k.value for k in d.keywords)] if name_of(a) in KEPT]
                found.setdefault(name_of(d.args[0]), []).append((n, how))
    return found

def attributes(methods):
    "The public attributes that methods set"
    for m in methods:
        if not m.args.args: continue
        for n in ast.walk(m):
            is_own = isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) and getattr(n.value, "id", "") == m.args.args[0].arg
            if is_own and not n.attr.startswith("_"): yield n.attr

def class_(n, added, known):
    "The stub of a class with all its methods and attributes"
    methods = {m.name: (m, ()) for m in n.body if isinstance(m, ast.FunctionDef)} | {m.name: (m, how) for m, how in added}
    fields = {f.target.id: annotation(f.annotation, f.value, known) or "Any" for f in n.body if isinstance(f, ast.AnnAssign)}
    lines = [f"{name}: {kind}{' = ...' if value else ''}" for (name, kind), value in
             zip(fields.items(), [f.value for f in n.body if isinstance(f, ast.AnnAssign)])]
    own = set(attributes(m for m, _ in methods.values())) | {a.arg for m, _ in methods.values() if m.name == "__init__"
                                                            for a in [*m.args.args[1:], *m.args.kwonlyargs]}
    own |= {t.id for f in n.body if isinstance(f, ast.Assign) for t in f.targets if isinstance(t, ast.Name) and t.id[0] != "_"}
    lines += [f"{name}: Any" for name in sorted(own - methods.keys() - fields.keys())]
    for m, how in methods.values():
        if not m.name.startswith("_") or m.name.startswith("__"): lines += function(m, known, how)
    marks = [f"@{ast.unparse(d)}" for d in n.decorator_list if name_of(d) in KEPT]
    bases = ", ".join(map(ast.unparse, [*n.bases, *n.keywords]))
    return [*marks, f"class {n.name}{f'({bases})' if bases else ''}:", *(f"    {line}" for line in lines or ["..."])]

def stub(tree, added):
    "The stub of a module"
    classes = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    imported = [n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    known = classes | {(a.asname or a.name).split(".")[0] for n in imported for a in n.names} | set(dir(__builtins__)) | {"Any"}
    for n in imported:
        if isinstance(n, ast.ImportFrom):
            for a in n.names: a.asname = a.asname or a.name             # so that others may import it from here
    lines = ["from typing import Any", *map(ast.unparse, imported)]
    done = set()
    for n in tree.body:
        if isinstance(n, ast.ClassDef): lines += class_(n, added.get(n.name, []), known)
        elif isinstance(n, ast.FunctionDef):
            is_patch = any(name_of(d) == "patch_to" for d in n.decorator_list)
            if n.name not in done and not is_patch: lines += function(n, known)
            if not is_patch: done.add(n.name)
        elif isinstance(n, ast.Assign):
            targets = [t for target in n.targets for t in getattr(target, "elts", [target])]
            names = {t.id for t in targets if isinstance(t, ast.Name)} - {"__all__"} - done
            lines += [f"{name}: Any" for name in sorted(names)]
            done |= names
    return "\n".join(lines) + "\n"

def front(tree):
    "The stub of the package itself: the names that it imports when they are asked for"
    home = next(n.value for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "_home")
    return "__version__: str\n" + "".join(f"from nmf2.{k.value.value} import {k.arg} as {k.arg}\n" for k in home.keywords)

def write(folder):
    "All stubs, into a folder"
    trees = {p.stem: ast.parse(p.read_text(encoding="utf-8")) for p in sorted((ROOT/"nmf2").glob("[!_]*.py"))}
    added = patches(trees)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, tree in trees.items(): Path(folder, f"{name}.pyi").write_text(stub(tree, added), encoding="utf-8")
    package = ast.parse((ROOT/"nmf2"/"__init__.py").read_text(encoding="utf-8"))
    Path(folder, "__init__.pyi").write_text(front(package), encoding="utf-8")

if __name__ == "__main__": write(sys.argv[1])
