"""The models of requests and results."""

import sys
from collections.abc import Iterator
from threading import Barrier, Thread

import pytest
from pydantic import create_model

from entrez_kit.core.model import Request, Result


@pytest.fixture
def _threads_take_turns_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("_threads_take_turns_often")
def test_threads_that_use_a_new_model_at_the_same_time_all_get_it_complete() -> None:
    wrong: list[object] = []
    for _ in range(20):
        part = create_model("Part", __base__=Result, number=(int, ...), names=(list[str], []))
        whole = create_model("Whole", __base__=Result, part=(part, ...), parts=(list[part], ...))
        asked = create_model("Asked", __base__=Request, most_results=(int, 20))
        barrier = Barrier(6)

        def use(whole: type[Result] = whole, asked: type[Request] = asked, barrier: Barrier = barrier) -> None:
            barrier.wait()
            try:
                request = asked.model_validate({"mostResults": 3})
                result = whole.model_validate({"part": {"number": 1}, "parts": [{"number": 2, "names": ["a"]}]})
                found = (request.model_dump(), result.model_dump(mode="json"))
                expected = (
                    {"most_results": 3},
                    {"part": {"number": 1, "names": []}, "parts": [{"number": 2, "names": ["a"]}]},
                )
                wrong.extend([] if found == expected else [found])
            except BaseException as exc:
                wrong.append(exc)

        threads = [Thread(target=use) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_importing_a_model_does_not_build_it() -> None:
    made = create_model("Made", __base__=Result, number=(int, ...))

    assert not made.__pydantic_complete__
    assert made.model_validate({"number": 1}).model_dump() == {"number": 1}
    assert made.__pydantic_complete__
