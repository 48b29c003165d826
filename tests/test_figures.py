"""The figures in the prose: .ci/figures.py"""
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT/".ci"))
import figures                                                                        # noqa: E402

DATA = {"rows": [{"method": "default", "mean": .58634, "n": 12500}, {"method": "other", "mean": .4}], "versions": {"numpy": 3.25}}


def notebook(path, prose, output="0.25"):
    cells = [dict(cell_type="markdown", source=prose), dict(cell_type="code", source="x", outputs=[dict(text=output)])]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(dict(cells=cells)))
    return path


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    (tmp_path/"r.json").write_text(json.dumps(DATA))
    return tmp_path


def test_which_numbers_are_figures():
    text = "In 2013, Kuang (2015) had `0.7`, $0.8$, [1.5](a-0.9.html), numpy 2.4.6; 58.6 %, 5 %, 12,500, 0.25, 1234, .75 and −.5, 12 of them, tr41, e.g..8, 1..9."
    assert figures.FIGURE.findall(figures.NO_PROSE.sub(" ", text))[-7:] == ["58.6", "5", "12,500", "0.25", "1234", ".75", ".5"]


def test_numbers_below_a_key_or_in_a_row():
    assert set(figures.numbers(DATA)) == {.58634, 12500, .4, 3.25}
    assert set(figures.numbers(DATA, frozenset(["default"]))) == {.58634, 12500}
    assert set(figures.numbers(DATA, frozenset(["versions"]))) == {3.25}
    assert set(figures.numbers(DATA, frozenset(["rows", "other"]))) == set(figures.numbers(DATA, frozenset(["other", "mean"]))) == {.4}
    assert not [*figures.numbers(DATA, frozenset(["default", "other"]))]


def test_promises_are_kept_or_broken(here, capsys):
    kept = notebook(here/"nbs"/"a.ipynb", "It is 0.586, or 58.6 % and 59 %, of 12,500. <!-- figures: r.json:default -->")
    assert figures.main([kept]) == 0 and not capsys.readouterr().out
    broken = notebook(here/"nbs"/"a.ipynb", "It is 0.587, and the other 0.4. <!-- figures: r.json:default -->")
    assert figures.main([broken]) == 1
    assert capsys.readouterr().out == "ERROR a.ipynb: 0.587 is not in r.json:default\nERROR a.ipynb: 0.4 is not in r.json:default\n"
    assert figures.main([notebook(here/"nbs"/"a.ipynb", "It is .59 and .4. <!-- figures: r.json:other+rows -->")]) == 1
    assert capsys.readouterr().out == "ERROR a.ipynb: .59 is not in r.json:other+rows\n"


def test_figures_without_a_source_are_a_warning(here, capsys):
    page = notebook(here/"tutorials"/"a.ipynb", "It is 0.25, and 0.77.")
    assert figures.main([page]) == 0
    assert capsys.readouterr().out == "warning a.ipynb: in no output and no results file: 0.77\n"


def test_notebooks_keep_their_promises():
    out = subprocess.run([sys.executable, ROOT/".ci"/"figures.py"], capture_output=True, text=True)
    assert out.returncode == 0, out.stdout + out.stderr
