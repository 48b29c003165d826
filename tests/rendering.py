"""Pages as a browser shows them, without Quarto: Pandoc's HTML in a frame like Quarto's, with the rules of nbs/theme.scss

Quarto is built on Pandoc, names parts of cells as here, and puts text between two columns. What its own themes look like is not here.
"""
import re
import shutil
import subprocess
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THEME = (ROOT/"nbs"/"theme.scss").read_text(encoding="utf-8").partition("/*-- scss:rules --*/")[2]

FRAME = """
:root { font-size: 17px }
body { margin: 0; font-family: system-ui, sans-serif; line-height: 1.5; background: #fff; color: #373a3c }
main { padding: 0 24px; min-width: 0 }
@media (min-width: 992px) { main { margin: 0 calc(180px + 48px) 0 calc(210px + 48px); padding: 0; max-width: 952px } }
@media (prefers-color-scheme: dark) { body { background: #222; color: #fff } a { color: #00bc8c } div.sourceCode { background: #2b2b2b !important } }
pre { margin: 0 0 1rem; overflow: auto }
pre, code { font-family: SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
code { font-size: .875em }
div.sourceCode { background: #f6f7f7; border-radius: 4px; overflow-y: hidden; margin: 1em 0 }
pre.sourceCode { padding: .4em; overflow: visible; margin: 0 }
pre > code.sourceCode { white-space: pre-wrap }
table { border-collapse: collapse; margin-bottom: 1rem }
th { text-align: left }
"""

class Missing(Exception):
    "What is missing, and how to get it"

def pandoc(text, *options):
    "What Pandoc makes of a text, and its complaints: the one of Quarto, one on the path, or one that pip has installed"
    found = shutil.which("pandoc")
    if not found:
        try: found = __import__("pypandoc").get_pandoc_path()
        except (ImportError, OSError): raise Missing("there is no Pandoc: pip install pypandoc_binary") from None
    done = subprocess.run([found, "-f", "markdown", *options], input=text, capture_output=True, text=True)
    if done.returncode: raise RuntimeError(done.stderr)
    return done.stdout, done.stderr

def join(text): return text if isinstance(text, str) else "".join(text)

def fenced(text, kind): return f"``````` {{{kind}}}\n{text.rstrip()}\n```````"

def output(o):
    "An output of a cell, as Quarto writes it for Pandoc"
    data = o.get("data", {})
    if "text/markdown" in data: shown = join(data["text/markdown"])
    elif "text/html" in data: shown = fenced(join(data["text/html"]), "=html")
    elif "image/svg+xml" in data: shown = fenced(join(data["image/svg+xml"]), "=html")
    elif "image/png" in data:
        alt = o.get("metadata", {}).get("alt", "")
        shown = fenced(f'<p><img alt="{escape(alt)}" src="data:image/png;base64,{join(data["image/png"]).strip()}"></p>', "=html")
    else: return f"::: {{.cell-output .cell-output-stdout}}\n{fenced(join(o.get('text', data.get('text/plain', ''))), '.text')}\n:::"
    return f"::: {{.cell-output .cell-output-display}}\n{shown}\n:::"

def markdown(cells):
    "The cells of a page, as (kind, source, outputs), in Pandoc's Markdown"
    for kind, source, outputs in cells:
        if kind == "markdown": yield source
        if kind != "code": continue
        code = re.sub(r"\A(\s*#\|.*\n?)*", "", source).strip()
        said = re.match(r"(\s*#\|.*\n?)*", source)[0]
        shown = [fenced(code, ".python .cell-code")] if code and "echo: false" not in said else []
        if "output: asis" in said: shown += [join(o["data"]["text/markdown"]) for o in outputs if "text/markdown" in o.get("data", {})]
        else: shown += map(output, outputs)
        yield f"::: {{.cell{' .wrapped' if 'classes: wrapped' in said else ''}}}\n" + "\n\n".join(shown) + "\n:::"

def document(pages):
    "All pages as one document, each in a `main` of its own; `pages` is {name: cells}"
    mark = "\n\n```{=html}\n<!-- page NAME -->\n```\n\n"
    text = "".join(mark.replace("NAME", name) + "\n\n".join(markdown(cells)) for name, cells in pages.items())
    html, _ = pandoc(text, "-t", "html", "--mathml", "--wrap", "none", "--no-highlight")
    html = re.sub(r'<pre\s+class="python cell-code"><code>(.*?)</code></pre>', r'<div class="sourceCode cell-code"><pre class="sourceCode"><code class="sourceCode">\1</code></pre></div>', html, flags=re.S)
    _, *parts = re.split(r"<!-- page (\S+) -->", html)
    mains = [f'<main class="content" id="{name}">{part}</main>' for name, part in zip(parts[::2], parts[1::2])]
    style = f"<style>{FRAME}</style><style>{THEME}</style>"
    return f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">{style}<body>{"".join(mains)}'

TOO_WIDE = """() => [...document.querySelectorAll('main *')].filter(e => {
    if (!(e.getBoundingClientRect().right > innerWidth + 1)) return false
    for (let p = e; p.tagName != 'MAIN'; p = p.parentElement)
        if (/auto|scroll|hidden/.test(getComputedStyle(p).overflowX) && p.getBoundingClientRect().right <= innerWidth + 1) return false
    return true }).map(e => e.closest('main').id + ': <' + e.tagName.toLowerCase() + '> ' + e.textContent.trim().slice(0, 60))"""

COLUMNS = """() => { const code = [...document.querySelectorAll('main div.sourceCode code')].find(e => e.textContent)
    const range = document.createRange(), kept = code.textContent
    code.textContent = '0'.repeat(60)
    range.selectNodeContents(code)
    const each = range.getBoundingClientRect().width/60, room = code.parentElement.clientWidth - 2*parseFloat(getComputedStyle(code.parentElement).paddingLeft)
    code.textContent = kept
    return Math.floor(room/each) }"""

CUT = """() => { const printed = [...document.querySelectorAll('main .cell-output-stdout pre')]
    return [printed.filter(e => e.scrollWidth > e.clientWidth + 1 || e.parentElement.scrollWidth > e.parentElement.clientWidth + 1).length, printed.length] }"""
