"""The names and defaults that the migration page gives for tvgnn are those of the code."""

import importlib
import inspect
import re
from dataclasses import fields

import pytest
import torch
from markdown_pages import ROOT

import tvgnn

PAGE = ROOT / "docs" / "migration.md"


def sections():
    """Return the tvgnn class or function of each section with a table, and the rows of it."""
    found = []
    for part in re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        body = re.split(r"^## ", body, flags=re.MULTILINE)[0]
        rows = [line.strip("|").split("|") for line in body.splitlines() if line.startswith("| ")]
        found.append(pytest.param(re.findall(r"`tvgnn\.([\w.]+)`", heading)[-1], rows[1:], id=heading))
    return found


def codes(rows):
    """Return what stands in backticks in the middle column."""
    return [code for row in rows for code in re.findall(r"`([^`]+)`", row[1])]


def ours(name):
    """Return the class or function of that name below ``tvgnn``."""
    module, _, last = f"tvgnn.{name}".rpartition(".")
    return getattr(importlib.import_module(module), last)


def known_arguments(what):
    """Return name=default of a function, or of constructor and forward; name alone where there is no default."""
    known = {}
    called = [what.__init__, getattr(what, "forward", None)] if inspect.isclass(what) else [what]
    for function in filter(None, called):
        for name, parameter in inspect.signature(function).parameters.items():
            plain = parameter.default is inspect.Parameter.empty
            known[name] = name if plain else f"{name}={parameter.default!r}"
    return known


@pytest.mark.parametrize(("name", "rows"), sections())
def test_our_arguments_exist_with_their_defaults(name, rows):
    known = known_arguments(ours(name))
    assert len(rows) > 2
    told = codes(rows)
    assert told
    for code in told:
        assert code == known.get(code.split("=")[0])


def test_no_argument_of_ours_is_left_out():
    told = {}
    for section in sections():
        name, rows = section.values
        if not hasattr(ours(name), "forward"):  # of an estimator those that the other method has, too
            continue
        told.setdefault(name, set()).update(code.split("=")[0] for code in codes(rows))
    shared = {"mlp_activation", "bias", "backend", "low_memory"}  # told of the first pooling layer
    assert shared <= told["AsymCheegerCutPooling"]
    for name, arguments in told.items():
        expected = set(inspect.signature(ours(name)).parameters)
        assert expected - shared <= arguments, name


def test_our_outputs_exist():
    text = PAGE.read_text(encoding="utf-8")
    third = [row.split("|")[3] for row in text.splitlines() if row.startswith("| ") and row.count("|") > 3]
    ours = " ".join(third)
    attributes = set(re.findall(r"`out\.(\w+)", ours))
    assert attributes >= {"x", "adj", "assignments", "losses", "kept"}
    assert attributes <= {field.name for field in fields(tvgnn.PoolingOutput)}

    path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    layers = (tvgnn.AsymCheegerCutPooling, tvgnn.MinCutPooling, tvgnn.DMoNPooling, tvgnn.DiffPooling)
    losses = {key for layer in layers for key in layer(2, [3])(torch.randn(4, 3), path).losses}
    assert set(re.findall(r'out\.losses\["(\w+)"\]', ours)) == losses


def test_other_names_of_tvgnn_exist():
    text = PAGE.read_text(encoding="utf-8")
    for name in re.findall(r"`tvgnn\.(\w+)`", text):
        assert name in tvgnn.__all__
    for name in re.findall(r"`(TV\w+)\(", text):
        assert name in tvgnn.__all__
