"""Detection of cycles in references where each element refers to one other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def find_cycles(successors: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield every cycle in `successors` once, with its first member repeated at the end: (a, b, c, a). O(n)."""
    done: set[str] = set()
    for start in successors:
        path: dict[str, int] = {}
        current = start
        while current in successors and current not in done and current not in path:
            path[current] = len(path)
            current = successors[current]
        if current in path:
            members = list(path)[path[current] :]
            yield (*members, current)
        done.update(path)
