"The tutorial on the idea: its sliders, and what a reader sees who opens it without running it"
import ast
import json
import re
from pathlib import Path

import pytest

path = Path(__file__).resolve().parent.parent/"nbs"/"tutorials"/"idea.ipynb"
nb = json.loads(path.read_text(encoding="utf-8"))
code = [c for c in nb["cells"] if c["cell_type"] == "code"]
sliders = next(i for i, c in enumerate(code) if "Sliders(show" in "".join(c["source"]))

@pytest.fixture
def tutorial(monkeypatch):
    "The names of the tutorial up to its sliders, the sliders, and the titles of what they have drawn"
    plt = pytest.importorskip("matplotlib.pyplot")
    before, drawn, names = plt.get_backend(), [], {}
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: drawn.append(plt.gcf().axes[0].get_title()))
    for c in code[:sliders]: exec("".join(c["source"]), names)
    *rest, last = ast.parse("".join(code[sliders]["source"])).body
    exec(compile(ast.Module(rest, []), "sliders", "exec"), names)
    yield names, eval(compile(ast.Expression(last.value), "sliders", "eval"), names), drawn
    plt.close("all")
    plt.switch_backend(before)

@pytest.mark.slow
def test_sliders_redraw_the_map(tutorial):
    names, widget, drawn = tutorial
    swing, opening = widget.children[:2]
    error = lambda: float(re.search(r"error ([\d.]+)", drawn[-1])[1])
    widget.update()
    least = error()
    assert "swing 0°, opening 0°" in drawn[-1] and ", 0 changed" in drawn[-1]
    swing.value = 20
    assert "swing 20°, opening 0°" in drawn[-1] and error() > 2*least
    swing.value, opening.value = 0, 10
    assert error() == least                                             # a wider wedge is as good
    for swing.value in (swing.min, swing.max):
        for opening.value in (opening.min, opening.max): assert error() > least

def test_page_without_a_kernel_has_the_picture():
    data = next(o["data"] for o in code[sliders]["outputs"] if "data" in o)
    assert "".join(data["text/plain"]).startswith("Two sliders")        # GitHub, and whoever does not trust the notebook
    state = nb["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    box = state[data["application/vnd.jupyter.widget-view+json"]["model_id"]]
    inside = [state[child.removeprefix("IPY_MODEL_")] for child in box["state"]["children"]]
    assert [m["model_name"] for m in inside] == ["IntSliderModel", "IntSliderModel", "OutputModel"]
    assert "image/png" in inside[2]["state"]["outputs"][0]["data"]
