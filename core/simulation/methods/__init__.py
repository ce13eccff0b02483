"""Integration methods, one per file; menus, the command line and runs read the properties that each declares."""

from core.kinds import find_declared_objects
from core.simulation.methods.method import Method

METHODS: dict[str, Method] = {
    method.id: method
    for method in sorted(
        (method for declared in find_declared_objects(__name__, __path__, "METHODS") for method in declared),
        key=lambda method: method.place,
    )
}
"""All methods by name, in the order of menus."""
