"""``tvgnn datasets``: what can be loaded by name, and fetching it ahead."""

import sys
from typing import Annotated

import typer

from tvgnn.cli import options

__all__ = ["datasets_app"]

_FILE_WIDTH = 130  # a pipe or a file has no width to fit; no line wraps in this one

datasets_app = typer.Typer(help="List the datasets that can be loaded by name, or fetch one.")


@datasets_app.callback(invoke_without_command=True)
def _list_by_default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_datasets()


@datasets_app.command("list")
def list_datasets(root: options.Root = None, mirror: options.Mirror = None) -> None:
    """List the datasets."""
    from rich.console import Console
    from rich.table import Table

    import tvgnn.datasets

    table = Table(box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    for column in ("graphs", "nodes", "edges", "features", "classes"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("at hand", no_wrap=True)
    table.add_column("source")
    for info in tvgnn.datasets.list_datasets(root, mirror):
        graphs = f"{info.graphs:,}" if info.graphs > 1 else "-"
        means = (f"{count / info.graphs:,.{0 if info.graphs == 1 else 1}f}" for count in (info.nodes, info.edges))
        at_hand = "built in" if info.embedded else "yes" if info.available else "no"
        classes = str(info.classes) if info.classes else "-"
        table.add_row(info.name, graphs, *means, f"{info.features:,}", classes, at_hand, info.source)
    console = Console() if sys.stdout.isatty() else Console(width=_FILE_WIDTH)
    console.print(table)
    console.print("Where there are several graphs, nodes and edges are means over them.")


@datasets_app.command("get")
def get_dataset(
    name: Annotated[str, typer.Argument(help="Name of the dataset.")],
    root: options.Root = None,
    mirror: options.Mirror = None,
) -> None:
    """Fetch and check the files of a dataset, so that later runs need no internet."""
    import tvgnn.datasets

    if any(info.embedded and info.name == name.lower() for info in tvgnn.datasets.list_datasets(root, mirror)):
        typer.echo(f"{name.lower()}: built in, there is nothing to fetch")
    else:
        typer.echo(f"{name.lower()}: files are in {tvgnn.datasets.fetch_dataset(name, root, mirror)}")
