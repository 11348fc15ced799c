"""``clmst warm``: build and test the kernels that first calls need, before there is a call.

It is meant for container images and for continuous integration, where a first call would otherwise
take seconds.
"""

from __future__ import annotations

import click

from clmst.cli.options import device_option, json_option, quiet_option
from clmst.cli.terminal import display, duration, print_json


@click.command()
# A metavar is given, because different versions of click show the choices of an optional argument
# differently.
@click.argument(
    "what", type=click.Choice(("graphs", "points", "all")), default="all",
    metavar="[graphs|points|all]",
)  # fmt: skip
@device_option
@quiet_option
@json_option
def warm(what: str, device_name: str | None, quiet: bool, as_json: bool) -> None:
    """Build and test the kernels that first calls on a device need.

    Without it, the first call of each kind takes seconds on a new machine, with a new driver or in
    a new container. The results are kept in the caches of clmst and of the driver, so one call
    serves all later processes of the user. docs/install.md has the lines for a Dockerfile.
    """
    from clmst.warming import warmed

    done = warmed(what, device_name, display=display(quiet=quiet or as_json))
    name = done.device.description
    if as_json:
        found = {"device": name, "what": what, "n_built": done.n_built, "n_ready": done.n_ready}
        print_json(found | {"refused": done.refused, "seconds": round(done.seconds, 3)})
    elif not quiet:
        built = "1 program" if done.n_built == 1 else f"{done.n_built} programs"
        click.echo(
            f"{name}: built {built}, found {done.n_ready} in the caches, in "
            f"{duration(done.seconds)}"
        )
        for one in done.refused:
            click.echo(f"{one} is not used there; clmst devices has the reason")
