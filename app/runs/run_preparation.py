"""Prepares the first run of an opened machine while the window is idle, so that its compiled code is ready when
needed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QTimer

from app.background.signals import Lifetime
from app.runs.run_settings import InitialState, simulate_arguments

if TYPE_CHECKING:
    from app.background.jobs import Jobs
    from app.document.session import Session
    from app.runs.job import Simulation
    from core.apart.work_process import WorkProcess

IDLE = 1000
"""Time without a job or a movement after which the window counts as idle, ms."""
OF_THE_START = ("q0", "v0", "x0", "start")
"""Run settings on which the compiled code does not depend."""


class RunPreparation(QObject):
    """Compiles the code for runs of each opened machine once, in a process of low priority that ends as soon as any job
    starts."""

    def __init__(self, session: Session, simulation: Simulation, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._simulation, self._jobs = session, simulation, jobs
        self._process: WorkProcess | None = None
        self._document: int | None = None
        """The document that was prepared last."""
        self._timer = QTimer(self, interval=IDLE, singleShot=True)
        self._timer.timeout.connect(self._prepare)
        self._life = Lifetime()

    def begin(self) -> None:
        """Prepare the opened machine, and each machine opened later, as soon as the window is idle."""
        self._life.listen(
            (self._session.changed, self._restart_idle_timer),
            (self._session.moved, self._restart_idle_timer),
            (self._jobs.changed, self._restart_idle_timer),
        )
        self._restart_idle_timer()

    def close(self) -> None:
        """Stop preparing for good."""
        self._life.close()
        self._timer.stop()
        self._end_process()

    def _restart_idle_timer(self, *_: object) -> None:
        if self._jobs.unfinished_jobs or self._session.document != self._document:
            self._end_process()
        if self._session.document != self._document:
            self._timer.start()

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _prepare(self) -> None:
        session, settings = self._session, self._simulation.run_settings
        if self._jobs.unfinished_jobs or session.has_preview:
            return
        self._document, mech = session.document, session.mech
        if mech.nv == 0:
            return
        from core.apart.work_process import WorkProcess
        from core.simulation.prepared_code import prepare_run

        process = self._process = WorkProcess()
        options = simulate_arguments(settings, session, InitialState(session.q, np.zeros(mech.nv)))
        for name in OF_THE_START:
            del options[name]

        def work() -> None:
            prepare_run(process, mech, options)
            process.close()

        threading.Thread(target=work, name="kinetostat-preparation", daemon=True).start()
