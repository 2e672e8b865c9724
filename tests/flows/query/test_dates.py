"""Text that is not a date is rejected by its name, in every front end."""

from typing import Any

import pytest
from command_line import Cli, read_error

from entrez_kit import EntrezKit
from entrez_kit.base.errors import InvalidInput
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.tools import Toolbox


@pytest.mark.parametrize("value", [2020.5, "2020.5", 2020.05, "2020.05"])
@pytest.mark.parametrize("bound", ["min_date", "max_date"])
def test_a_number_is_not_a_year_and_a_month(kit: EntrezKit, sandbox: Sandbox, bound: str, value: Any) -> None:
    for method, arguments in (
        ("search_articles", {"query_term": "trial", "date_range": {bound: value}}),
        ("entrez_search", {"db": "pubmed", "term": "trial", "date_type": "pdat", bound: value}),
    ):
        with pytest.raises(InvalidInput) as caught:
            getattr(kit, method)(**arguments)
        assert bound in (caught.value.invalid_input or "")
        assert str(value) in (caught.value.invalid_input or "")

        tool = {"search_articles": "pubmed_search_articles"}.get(method, method)
        called = Toolbox(None).call(kit.services, tool, arguments)
        assert called.is_error
        assert bound in (called.structured_content or {})["error"]["invalid_input"]
    assert sandbox.requests("esearch") == 0


@pytest.mark.parametrize("option", ["--min-date", "--max-date"])
def test_commands_reject_it_too(cli: Cli, option: str) -> None:
    for command in (("search", "trial"), ("db", "search", "pubmed", "trial", "--date-type", "pdat")):
        done = cli(*command, option, "2020.5", "--json")

        assert (done.status, read_error(done)["code"]) == (2, "INVALID_INPUT")
        assert "2020.5" in read_error(done)["invalid_input"]


def test_the_e_utilities_reject_it_too(kit: EntrezKit, sandbox: Sandbox) -> None:
    with pytest.raises(InvalidInput) as caught:
        kit.eutils.esearch(db="pubmed", term="trial", datetype="pdat", mindate="2020.5", maxdate="2021")

    assert caught.value.invalid_input == "mindate=2020.5"
    assert sandbox.requests() == 0
