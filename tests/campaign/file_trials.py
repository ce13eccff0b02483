"""Files: whatever is done to a good one, it is read or refused in words, soon and within bounds."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from core.codegen import background
from core.errors import KinetostatError
from core.files import FORMATS, dumps, format_model, loads, read
from core.files.formats import check
from core.files.meshes.meshes import load_mesh
from core.functions.subjects.torque_file import read_torque_file
from core.mechanics.elements.recorded_signals import read_table
from core.mechanism import Mechanism
from core.model import Model
from tests.campaign import mutations, tree_mutations
from tests.campaign.file_seeds import Seed, seeds
from tests.campaign.trials import Unexpected, message
from tests.files.native.test_native import HAND_WRITTEN

SHARES = {
    "kst": 34,
    "urdf": 14,
    "mjcf": 14,
    "robotica": 7,
    "csv": 5,
    "toml": 5,
    "mesh": 8,
    "run": 2,
    "table": 4,
    "torques": 4,
    "imports": 4,
    "xacro": 0.5,
}
"""How many trials of each kind, in parts of all; running another program is slow."""
MECHANISMS = 0.1
"""Share of the models that are made machines of."""
LARGE = 30
"""Bodies and joints of a machine that would take long."""
TREES = {
    "kst": tree_mutations.yaml_spoiled,
    "imports": tree_mutations.yaml_spoiled,
    "urdf": tree_mutations.xml_spoiled,
    "xacro": tree_mutations.xml_spoiled,
    "mjcf": tree_mutations.xml_spoiled,
    ".dae": tree_mutations.xml_spoiled,
    ".gltf": tree_mutations.json_spoiled,
}
"""What spoils the tree of a file of a kind or suffix."""


class FileTrials:
    """Spoils a good file and reads it."""

    patience = 60.0

    def __init__(self, folder: Path) -> None:
        background.submit_job = lambda job: None  # machine code of a thousand wrong machines would take all the time
        self.kinds = [kind for kind in seeds() if kind in SHARES]
        self.weights = [SHARES[kind] for kind in self.kinds]

    def trial(self, luck: random.Random, folder: Path) -> str:
        """A file in the folder, read with all that follows."""
        kind = luck.choices(self.kinds, self.weights)[0]
        seed = luck.choice(seeds()[kind])
        path = folder / f"file{seed.suffix}"
        path.write_bytes(spoiled(luck, seed))
        try:
            READERS.get(kind, model_file)(path, luck)
        except KinetostatError as error:
            return f"{kind}: {message(error)}"
        return f"{kind}: read"

    def close(self) -> None:
        """Nothing is open."""


TRIALS = FileTrials


def spoiled(luck: random.Random, seed: Seed) -> bytes:
    """The content of a seed after mutations of its bytes, words and lines, or of its tree, or both."""
    data, tree = seed.data, TREES.get(seed.kind) or TREES.get(seed.suffix)
    if tree is not None and luck.random() < 0.5:
        data = tree(luck, data)
        if luck.random() < 0.8:
            return data
    return mutations.spoiled(luck, data)


def model_file(path: Path, luck: random.Random) -> None:
    """A model: its findings, its texts, sometimes its machine."""
    (path.parent / "plate.obj").write_bytes(seeds()["mesh"][0].data)
    reading = read(path)
    for finding in reading.findings:
        if not finding.text.strip():
            raise Unexpected("A finding without words")
    used(reading.model, str(path), luck)


def used(model: Model, origin: str, luck: random.Random) -> None:
    """All that is done with a model that was read."""
    for finding in check(model):
        if not finding.text.strip():
            raise Unexpected("A finding without words")
    text = dumps(model)
    try:
        again = loads(text, origin=origin)
    except KinetostatError as error:
        raise Unexpected(f"What was written is refused: {type(error).__name__}") from error
    if again != model:
        raise Unexpected("What was written is read as another model")
    for name, each in FORMATS.items():
        if each.write is not None:
            written(model, name)
    if luck.random() < MECHANISMS and len(model.expanded.bodies) + len(model.expanded.joints) <= LARGE:
        moved(model)


def written(model: Model, format: str) -> None:
    """A model in another format, or words why not."""
    try:
        format_model(model, format)
    except KinetostatError as error:
        message(error)


def moved(model: Model) -> None:
    """The machine of a model stands somewhere, and moves, or words say why not."""
    mech = Mechanism(model)
    q, v = mech.rest(), [0.0] * mech.nv
    mech.poses(q)
    mech.mass_matrix(q)
    mech.bias(q, v)
    mech.forward_dynamics(q, v, v)


def mesh_file(path: Path, luck: random.Random) -> None:
    """Triangles."""
    mesh = load_mesh(path)
    if not len(mesh.faces) or mesh.faces.max() >= len(mesh.vertices) or mesh.faces.min() < 0:
        raise Unexpected("A mesh without triangles, or of vertices that are not there")


def run_file(path: Path, luck: random.Random) -> None:
    """A run and its channels."""
    from core.simulation import Run

    run = Run.load(path)
    for name in run.channels[:12]:
        if len(run[name]) != len(run.time):
            raise Unexpected(f"The channel {name} is as long as no other")


def table_file(path: Path, luck: random.Random) -> None:
    """A table, read directly and as what moves a driver."""
    names, numbers = read_table(str(path))
    if len(names) != numbers.shape[1]:
        raise Unexpected("A table with other names than columns")
    if luck.random() < MECHANISMS:
        moved(loads(DRIVEN.format(file=path.name), origin=str(path.parent / "driven.kst")))


DRIVEN = """\
kinetostat: 1
bodies:
  a: {{mass: 1, inertia: {{ixx: 1, iyy: 1, izz: 1}}}}
joints:
  j: {{kind: revolute, parent: world, child: a}}
drivers:
  d: {{joint: j, file: "{file}"}}
"""


def torque_file(path: Path, luck: random.Random) -> None:
    """Torques."""
    read_torque_file(str(path)).display(2)


def importing_file(path: Path, luck: random.Random) -> None:
    """A file that imports others, which are spoiled too, or import it."""
    part = path.parent / "part.kst"
    match luck.randrange(4):
        case 0:
            part.write_text(path.read_text("utf-8", "replace"), encoding="utf-8")
        case 1:
            part.write_bytes(spoiled(luck, Seed("kst", ".kst", HAND_WRITTEN.encode())))
        case 2:
            part.write_text(f"kinetostat: 1\nassemblies:\n  x: {{file: {path.name}}}\n", encoding="utf-8")
        case _:
            part.write_text(HAND_WRITTEN, encoding="utf-8")
    model_file(path, luck)


READERS: dict[str, Callable[[Path, random.Random], None]] = {
    "mesh": mesh_file,
    "run": run_file,
    "table": table_file,
    "torques": torque_file,
    "imports": importing_file,
}
"""What is done with a file of a kind that is not simply a model."""
