"""``tvgnn datasets``: what can be loaded by name, and fetching it ahead."""

from typing import Annotated

import typer

from tvgnn.cli import options

__all__ = ["datasets_app"]

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

    table = Table("name", box=None)
    for column in ("nodes", "edges", "features", "classes"):
        table.add_column(column, justify="right")
    table.add_column("at hand")
    table.add_column("source")
    for info in tvgnn.datasets.list_datasets(root, mirror):
        counts = (info.nodes, info.edges, info.features)
        at_hand = "built in" if info.embedded else "yes" if info.available else "no"
        classes = str(info.classes) if info.classes else "-"
        table.add_row(info.name, *(f"{count:,}" for count in counts), classes, at_hand, info.source)
    Console().print(table)


@datasets_app.command("get")
def get_dataset(
    name: Annotated[str, typer.Argument(help="Name of the dataset.")],
    root: options.Root = None,
    mirror: options.Mirror = None,
) -> None:
    """Fetch and check the files of a dataset, so that later runs need no internet."""
    from tvgnn.datasets import fetch_dataset

    typer.echo(f"{name.lower()}: files are in {fetch_dataset(name, root, mirror)}")
