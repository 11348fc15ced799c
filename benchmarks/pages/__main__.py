"""``python -m benchmarks.pages``: write the tables of all pages from their records."""

from __future__ import annotations

import click

from benchmarks import pages


@click.command(help=pages.__doc__)
@click.option("--check", is_flag=True, help="Write nothing; fail if a page is not as its records.")
def main(*, check: bool) -> None:
    """Write the parts of all pages that are made from records.

    With `check`, raise ClickException if a page would change, and write nothing.
    """
    for page in pages.pages():
        text = pages.rendered(page)
        if text == page.read_text(encoding="utf-8"):
            continue
        if check:
            raise click.ClickException(f"{page} does not say what its records say")
        page.write_text(text, encoding="utf-8")
        click.echo(f"{page} is written")


if __name__ == "__main__":
    main()
