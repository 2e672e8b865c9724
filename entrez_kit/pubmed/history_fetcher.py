"""Fetch the records of a result set that NCBI keeps: its history, by WebEnv and query key."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from entrez_kit.base.errors import InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import Argument, FrontendText, format_count
from entrez_kit.base.progress import report_progress
from entrez_kit.core.model import Warn, warn_past_the_last
from entrez_kit.pubmed.record_batches import BATCH, Fetched, RecordBatches
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.services.transport.in_flight import run_in_order

DEFAULT_HISTORY_RECORDS: Final = 200


class HistoryRetrieval(Retrieval):
    """The records of a result set kept at NCBI.

    Args:
        query_key: the number of the result set.
        web_env: the history that has it.
        retstart: the number of records before the first one.
        retmax: the number of records; by default the first 200.
    """

    def __init__(
        self, batches: RecordBatches, *, query_key: str, web_env: str, retstart: int = 0, retmax: int | None = None
    ) -> None:
        super().__init__(batches)
        self._query_key, self._web_env, self._retstart = query_key, web_env, retstart
        self.retmax: int = DEFAULT_HISTORY_RECORDS if retmax is None else retmax
        self._is_first_page = retmax is None

    def _fetch(self) -> Iterator[Fetched]:
        self.total = total = self._count_records()
        expected = max(0, min(self.retmax, total - self._retstart))
        if self._is_first_page and total - self._retstart > DEFAULT_HISTORY_RECORDS:
            self.warnings.append(self._warn_about_page(total, expected))
        self.warnings += warn_past_the_last(self._retstart, total, "record", "retstart")
        self.batches.breaker.patient = expected > BATCH
        pmids: set[str] = set()
        problem = ""
        try:
            report_progress(0, expected)
            for page in self._request_pages(expected):
                new = [item for item in page if item.input not in pmids]
                if len(new) < len(page):
                    problem = ": two pages contain the same record."
                pmids.update(item.input for item in new)
                yield from new
                report_progress(len(pmids), expected)
        except (UpstreamError, RateLimited, InvalidInput) as exc:
            if not pmids:
                raise
            problem = f": {exc.message}"
        finally:
            self.batches.urls.sort(key=lambda url: int(dict(parse_qsl(urlsplit(url).query)).get("retstart", 0)))
        if problem or len(pmids) < expected:
            message = (
                f"NCBI returned {len(pmids)} of {format_count(expected, 'record')} of the result set{problem or '.'}"
            )
            self.warnings.append(Warn(code="history_incomplete", message=message))

    def _count_records(self) -> int:
        """Return the number of records in the result set."""
        reply = self.batches.services.eutils.esearch(
            db="pubmed", term=f"#{self._query_key}", webenv=self._web_env, usehistory=True, retmax=0
        )
        return reply.value.count

    def _warn_about_page(self, total: int, expected: int) -> Warn:
        """Return the warning that only the first records are returned, because the caller gave no number."""
        count = f"The result set has {format_count(total, 'record')}; "
        returned = f"{expected:,} from number {self._retstart:,} on are returned. "
        message = FrontendText(
            count, returned, "Set ", Argument("retmax"), ", or ", Argument("retstart"), " for the next records."
        )
        return Warn(code="history_page", message=message)

    def _request_pages(self, expected: int) -> Iterator[list[Fetched]]:
        """Yield the pages in order; several are requested at once."""
        last = self._retstart + expected
        pages = (
            partial(self._request_page, start, min(BATCH, last - start)) for start in range(self._retstart, last, BATCH)
        )
        return run_in_order(pages, self.batches.services.eutils.at_once if expected > BATCH else 1)

    def _request_page(self, start: int, size: int) -> list[Fetched]:
        """Request one page. If the result set has several pages, wait and retry a page that fails."""
        attempts = 0
        while True:
            try:
                return self._request_longer_page(start, size)
            except (UpstreamError, RateLimited) as exc:
                waits = self.batches.breaker.probe_waits(exc)
                if attempts >= len(waits):
                    raise
                wait = waits[attempts]
            attempts += 1
            time.sleep(wait)

    def _request_longer_page(self, start: int, size: int) -> list[Fetched]:
        """Request a page; request a short one again, because NCBI sometimes truncates a page, and return the longer."""
        longer: list[Fetched] = []
        for _ in range(2):
            page = self.batches.request_records(
                query_key=self._query_key, webenv=self._web_env, retstart=start, retmax=size
            )
            longer = max(longer, list(page.values()), key=len)
            if len(longer) >= size:
                break
        return longer[:size]
