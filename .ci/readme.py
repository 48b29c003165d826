#!/usr/bin/env python3
"""README.md, written from nbs/index.ipynb.

    python3 .ci/readme.py                    write README.md
    python3 .ci/readme.py --check            fail if it is not what the notebook says
    python3 .ci/readme.py --command test     print one of its two commands: install or test

Needs nothing but Python. Markdown cells are kept, code cells become Python blocks followed by their saved
text output; a cell marked `#| hide` is left out and one marked `#| echo: false` shows only its output.
"""
import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK, README = ROOT/"nbs"/"index.ipynb", ROOT/"README.md"
NOTE = "<!-- Written from nbs/index.ipynb by .ci/readme.py: change the notebook, then run the script. -->\n"

def relink(text):
    "Links count from nbs/ in the notebook and from the top in the README"
    def new(m):
        to = m.group(1)
        if re.match(r"[a-z]+:|#|/", to): return m.group()
        return f"]({to[3:] if to.startswith('../') else 'nbs/' + to})"
    return re.sub(r"\]\(([^)\s]+)\)", new, text)

def outputs(cell):
    "The saved text of a code cell, pictures and HTML left out"
    for o in cell["outputs"]:
        if o["output_type"] == "stream" and o["name"] == "stdout": yield "".join(o["text"])
        elif o["output_type"] == "error": raise SystemExit(f"{NOTEBOOK}: a cell ended in an error; run the notebook again")
        elif "text/plain" in o.get("data", {}): yield "".join(o["data"]["text/plain"]) + "\n"

def blocks(nb):
    "The README's pieces, one after another"
    for cell in nb["cells"]:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown": yield relink(source)
        if cell["cell_type"] != "code": continue
        said = set(re.findall(r"^#\|\s*(.+?)\s*$", source, re.M))
        if said & {"hide", "include: false"}: continue
        code = re.sub(r"^#\|.*\n?", "", source, flags=re.M).strip()
        if code and "echo: false" not in said: yield f"```python\n{code}\n```"
        text = "".join(outputs(cell)).rstrip()
        if text: yield f"```text\n{text}\n```"

def render():
    "The whole README"
    nb = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return "\n\n".join([*blocks(nb)]) + "\n\n" + NOTE

def command(which):
    "One of the two commands, word for word as the README has it"
    found = re.findall(r"^```sh\n(.+)\n```$", README.read_text(encoding="utf-8"), re.M)
    wanted = [c for c in found if (".[dev]" in c) == (which == "test") and "-m venv" in c]
    if len(wanted) != 1: raise SystemExit(f"README.md has {len(wanted)} lines that could be the {which} command")
    return wanted[0]

def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", action="store_true", help="write nothing; fail if README.md is not current")
    p.add_argument("--command", choices=["install", "test"], help="print one of the README's two commands")
    a = p.parse_args()
    if a.command: print(command(a.command))
    elif not a.check: README.write_text(render(), encoding="utf-8")
    elif not README.exists() or README.read_text(encoding="utf-8") != render():
        sys.exit("README.md is not what nbs/index.ipynb says: run python3 .ci/readme.py")

if __name__ == "__main__": main()
