"""`entrez-kit convert`: convert between PMID, PMCID and DOI."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from entrez_kit.pubmed.convert import CONVERT, Conversion, ConvertRequest, ConvertResult

from ._formats.fields import Record, as_data, columns_at
from ._ids import ONE_REQUEST, describe_failure
from ._options import ids_argument, option, request_options
from ._pipeline import Family, View, formats, run
from ._views.text import standing_status

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def _render_convert_table(result: ConvertResult, console: "Console") -> "RenderableType":
    from ._views.databases import convert_table

    return convert_table(result, console)


@formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.IDS)
@request_options(
    CONVERT,
    ids_argument("ids", more="- reads standard input."),
    option("id_type", metavar="KIND", words=("pmid", "pmcid", "doi")),
)
def command(ctx: typer.Context, request: ConvertRequest) -> None:
    """Convert article identifiers, one outcome per id, in order.

    Kinds may be mixed: entrez-kit convert 99000001 PMC99000002 10.5555/ekit.2025.0006 -f csv
    -f ids prints PMIDs, or the PMCID of an article outside PubMed.
    """

    def records(record: Conversion) -> Iterator[Record]:
        if record.status == "found":
            yield as_data(record)
        else:
            yield describe_failure(record.requested_id, record.status, record.message)

    view: View[ConvertResult] = View(
        table=_render_convert_table,
        records=records,
        columns=columns_at("requested_id", "pmid", "pmcid", "doi", "note") | {"standing": standing_status},
        ids=lambda record: [record.pmid or record.pmcid or record.doi] if record.status == "found" else [],
    )
    run(ctx, CONVERT, request, view, label="Converting", least=ONE_REQUEST)
