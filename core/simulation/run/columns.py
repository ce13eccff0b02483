"""The columns of a channel by name, without computing it."""

from __future__ import annotations

from core.constraints import cut_coordinates
from core.errors import ModelError
from core.simulation.run.channels import Channels

_PARTS = {
    "reaction": ("tx", "ty", "tz", "fx", "fy", "fz"),
    "orientation": ("qx", "qy", "qz", "qw"),
    **dict.fromkeys(("position", "velocity", "omega", "acceleration", "alpha", "linear", "angular"), tuple("xyz")),
}
_PLAIN = ("time", "energy.kinetic", "energy.potential", "energy.total", "constraint.residual")


def suffixes(channels: Channels, channel: str) -> tuple[str, ...]:
    """Suffixes of a channel's columns, as "x", "y", "z" of "tool.position"; () for a channel of one column.

    Raises ModelError for a channel that is none.
    """
    if channel not in channels.names:
        raise ModelError(f"There is no channel '{channel}'.")
    if channel in channels.elements.table:
        return channels.elements.table[channel].suffixes
    owner, _, what = channel.rpartition(".")
    if channel in _PLAIN or what in _PARTS:
        return () if channel in _PLAIN else _PARTS[what]
    mech = channels.mech
    if cut_coordinates.closes_loop(mech, owner):
        info = mech.model.expanded.find("joints", owner).info
        names = info.coordinates if what == "q" else info.speeds
        return names if len(names) > 1 else ()
    place = mech.joint_q(owner) if what == "q" else mech.joint_v(owner)
    count = place.stop - place.start
    return channels.components(channel, count) if count > 1 else ()
