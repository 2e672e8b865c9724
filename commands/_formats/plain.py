"""Plain lines and Markdown: ids, counts, pages."""

from collections.abc import Iterator

from entrez_kit.base.invisible import remove_invisible

from . import Job, TextWriter


def create_ids_writer(job: Job) -> TextWriter:
    """Return the writer of identifiers, one per line."""
    return TextWriter(job.sink, lambda outcome: (f"{uid}\n" for uid in job.view.list_ids(outcome)))


def create_count_writer(job: Job) -> TextWriter:
    """Return the writer of the number of results. An unknown number is printed as "unknown"."""

    def write_count(result: object) -> list[str]:
        number = job.view.total(result)
        return [f"{'unknown' if number is None else number}\n"]

    return TextWriter(job.sink, write_count, whole=True)


def create_page_writer(job: Job) -> TextWriter:
    """Return the writer of Markdown, one part for each record."""
    page = job.view.page
    assert page is not None, "a command that accepts pages has a page for a record"

    def write_pages(outcome: object) -> Iterator[str]:
        return (remove_invisible(page(record)) for record in job.view.list_found(outcome))

    return TextWriter(job.sink, write_pages, between=job.view.between)
