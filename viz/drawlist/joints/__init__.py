"""Looks of the joint kinds, one per module, found by the kind of the joint."""

from importlib import import_module
from pkgutil import iter_modules

from core.joints import JointKind
from viz.drawlist.joint_look import AxialLook, JointLook

for _module in iter_modules(__path__):
    import_module(f"{__package__}.{_module.name}")


def find_look(kind: type[JointKind]) -> JointLook:
    """Return the look of a joint kind: its own, that of a base kind with the same motion, or the default look."""
    classes = (*JointLook.__subclasses__(), *AxialLook.__subclasses__())
    looks = {each.of: each for each in classes if hasattr(each, "of")}
    found = next((looks[base] for base in kind.__mro__ if base in looks and base.pose is kind.pose), JointLook)
    return found()
