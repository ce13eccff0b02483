"""The methods, one a file: menus, command line and runs read what each declares of itself."""

from core.kinds import declared_in
from core.simulation.methods.method import Method

METHODS: dict[str, Method] = {
    method.id: method
    for method in sorted(
        (method for declared in declared_in(__name__, __path__, "METHODS") for method in declared),
        key=lambda method: method.place,
    )
}
"""By their names, in the order in which people are offered them."""
