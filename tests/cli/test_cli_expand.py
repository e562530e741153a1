"""Options written once as fields of a dataclass, for several commands."""

from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from tvgnn.cli.expand import expanded


@dataclass(frozen=True)
class Inner:
    depth: Annotated[int, typer.Option(min=1, help="How deep.")] = 1


@dataclass(frozen=True)
class Outer:
    name: Annotated[str | None, typer.Option(help="What.")] = None
    inner: Inner = field(default_factory=Inner)
    hidden: Annotated[int, typer.Option(help="Not everywhere.")] = 7


@pytest.fixture
def run():
    app = typer.Typer()

    @app.command()
    @expanded(without=("hidden",))
    def show(*, outer: Outer, times: int = 1) -> None:
        """Show it."""
        print(outer, times)

    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_fields_are_options_and_nested_ones_too(run):
    assert run("--name", "a", "--depth", "3", "--times", "2").stdout == f"{Outer('a', Inner(3))} 2\n"
    assert run().stdout == f"{Outer()} 1\n"


def test_limits_of_an_option_hold(run):
    result = run("--depth", "0")
    assert result.exit_code == 2
    assert "--depth" in result.output


def test_a_field_can_be_left_out(run):
    assert run("--hidden", "1").exit_code == 2
    assert "--hidden" not in run("--help").output
