"""Modules that are loaded later: `nmf2.loading`."""
import json
import sys
import types

import pytest

from nmf2.loading import Later, put_off


@pytest.fixture
def some_module(tmp_path, monkeypatch):
    "A package that nobody has loaded, with a module in it"
    (tmp_path/"some_package").mkdir()
    (tmp_path/"some_package/__init__.py").write_text("value = 1\n")
    (tmp_path/"some_package/inner.py").write_text("value = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "some_package"
    for name in ("some_package", "some_package.inner"): sys.modules.pop(name, None)

def test_modules_that_are_put_off(some_module):
    with put_off(dict.fromkeys([some_module, "json", "there_is_no_such_module"], ())):
        import some_package
        assert sys.modules["json"] is json and "there_is_no_such_module" not in sys.modules
    assert some_module not in sys.modules and not vars(some_package).get("value")
    with pytest.raises(AttributeError, match="no attribute 'other'"): some_package.other
    assert some_package.value == 1 and sys.modules[some_module] is not some_package
    import some_package as again
    assert again is sys.modules[some_module] and again.value == 1

def test_names_that_are_taken_out_of_a_module_that_is_put_off(some_module, tmp_path):
    (tmp_path/some_module/"__init__.py").write_text("value = 1\nclass Sum(int):\n    zero = 0\n    def more(self): return self + value\n")
    with put_off({some_module: ("Sum",)}):
        from some_package import Sum
        assert type(sys.modules[some_module]) is Later          # nothing was loaded for that
    assert some_module not in sys.modules
    assert Sum(2).more() == 3 and Sum.zero == 0
    import some_package
    assert isinstance(Sum(2), some_package.Sum)
    with pytest.raises(AttributeError, match="no attribute 'other'"): Sum.other

@pytest.mark.parametrize("asked", ["from some_package import value", "from some_package.inner import value", "import some_package; some_package.value"])
def test_modules_that_are_wanted_meanwhile(some_module, asked):
    with put_off({some_module: ()}):
        exec(asked)
        there = sys.modules[some_module]
        assert type(there) is types.ModuleType and there.value == 1
    assert sys.modules[some_module] is there


def package(): return sys.modules["some_package"]

def test_a_module_of_a_package_stands_in_both_places(some_module):
    with put_off({"some_package.inner": ()}):
        import some_package.inner as inner
        assert type(inner) is Later and package().inner is inner
        from some_package import inner as again
        assert again is inner
    assert "some_package.inner" not in sys.modules and "inner" not in vars(package())
    assert inner.value == 2 and package().inner.value == 2 and type(package().inner) is types.ModuleType

def test_a_module_that_was_wanted_meanwhile_stays_in_both_places(some_module):
    with put_off({"some_package.inner": ()}):
        import some_package.inner as inner
        assert inner.value == 2
        there = sys.modules["some_package.inner"]
        assert type(there) is types.ModuleType
    assert sys.modules["some_package.inner"] is there is package().inner
