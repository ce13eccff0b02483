"""Jobs beside the window: order, progress, failure, cancel, no thread left."""

import threading
import types

import pytest

from app.background.jobs import Job, Jobs, Worker

PATIENCE = 20
"""s"""


@pytest.fixture
def jobs(qtbot):
    jobs = Jobs()
    yield jobs
    assert jobs.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("job ")]


def test_results_arrive_in_the_window_thread(qtbot, jobs):
    seen = []
    job = jobs.start("sum", lambda progress, cancelled: threading.get_ident())
    job.succeeded.connect(lambda result: seen.append((result, threading.get_ident())))
    qtbot.waitSignal(job.ended).wait()
    ((worker, window),) = seen
    assert window == threading.get_ident() != worker
    assert jobs.unfinished_jobs == ()


def test_one_after_the_other(qtbot, jobs):
    order = []
    for name in "abc":
        jobs.start(name, lambda progress, cancelled, name=name: order.append(name))
    assert len(jobs.unfinished_jobs) == 3
    qtbot.waitUntil(lambda: not jobs.unfinished_jobs)
    assert order == ["a", "b", "c"]


def test_progress_and_time_left(qtbot, jobs):
    heard = threading.Semaphore(0)

    def work(progress, cancelled):
        for k in range(1, 11):
            progress(k / 10, "working")
            assert heard.acquire(timeout=PATIENCE)

    job = jobs.start("slow", work)
    seen = []
    job.progressed.connect(lambda fraction, text: seen.append((fraction, text, job.time_left)) or heard.release())
    qtbot.waitSignal(job.ended, timeout=1000 * PATIENCE).wait()
    assert [seen[:2] for seen in seen] == [(k / 10, "working") for k in range(1, 11)]
    assert seen[-1][2] == 0.0
    assert all(left is not None for *_, left in seen[1:])


def test_preparation_is_no_measure_of_the_time_left(qapp, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("app.background.jobs.time", types.SimpleNamespace(monotonic=lambda: now[0]))
    job = Job("slow", lambda progress, cancelled: None)
    ticket = job._ticket
    for passed, fraction in ((0.0, 0.0), (50.0, 0.01), (1.0, 0.11), (2.0, 0.31)):
        now[0] += passed
        ticket(fraction)
    job.fraction = ticket.fraction
    assert job.time_left == pytest.approx(3.0 * 0.69 / 0.30)  # three seconds for 30 %, whatever stood before
    whole = Job("in one go", lambda progress, cancelled: None)
    now[0] += 10.0
    whole._ticket(0.5)
    whole.fraction = 0.5
    assert whole.time_left == pytest.approx(10.0)


def test_what_is_prepared_before_any_part_is_done_is_told(qtbot, jobs):
    told = threading.Event()

    def work(progress, cancelled):
        progress(0.0, "Preparing …")
        told.wait(PATIENCE)

    job = jobs.start("slow", work)
    with qtbot.waitSignal(job.progressed) as heard:
        pass
    assert heard.args == [0.0, "Preparing …"]
    assert job.text == "Preparing …"
    told.set()
    qtbot.waitUntil(lambda: not jobs.unfinished_jobs)


def test_failure_is_handed_over(qtbot, jobs):
    def work(progress, cancelled):
        raise ValueError("no")

    job = jobs.start("wrong", work)
    with qtbot.waitSignal(job.failed) as failed:
        pass
    assert isinstance(failed.args[0], ValueError)


def test_cancel_drops_the_result(qtbot, jobs):
    asked = threading.Event()

    def work(progress, cancelled):
        asked.wait(PATIENCE)
        return "half a result"

    seen = []
    first, second = jobs.start("long", work), jobs.start("queued", work)
    for job in (first, second):
        job.succeeded.connect(seen.append)
        job.stopped.connect(lambda: seen.append("stopped"))
    jobs.cancel_all()
    asked.set()
    qtbot.waitUntil(lambda: not jobs.unfinished_jobs)
    assert seen == ["stopped", "stopped"]


def test_closing_waits_for_the_thread(qtbot):
    jobs = Jobs()
    begun, done = threading.Event(), []

    def work(progress, cancelled):
        begun.set()
        while not cancelled():
            pass
        done.append(True)

    jobs.start("long", work)
    assert begun.wait(PATIENCE)
    assert jobs.close()
    assert done == [True]
    assert jobs.unfinished_jobs == ()


def test_a_worker_drops_what_it_ran_in_the_thread_of_its_owner():
    """The last reference to a Qt object must not end in the worker's thread."""
    ended: list[int] = []

    class Owner:
        def __del__(self) -> None:
            ended.append(threading.get_ident())

        def work(self) -> None:
            pass

    worker = Worker("drop", lambda error: None)
    for _ in range(3):
        worker.submit(Owner().work)
        assert worker.wait()
    worker.close()
    assert ended == [threading.get_ident()] * 3
