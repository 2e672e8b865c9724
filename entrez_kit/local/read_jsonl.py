"""Read the records of jsonl files as PubMed XML."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from entrez_kit.local.article_to_xml import convert_article
from entrez_kit.local.file_events import FileEvent, split_lines, unusable_file_error
from entrez_kit.pubmed.models import Article

_ARTICLES: Final = "Each line must be an article, as `fetch -f jsonl` and `corpus export -f jsonl` write it."


def read_jsonl(chunks: Iterable[bytes], path: Path) -> Iterator[FileEvent]:
    """Read articles as `fetch -f jsonl` and `corpus export -f jsonl` write them, one a line.

    Lines about inputs that were not found have no record.

    Raises:
        InvalidInput: a line is not an article; the message has its number.
    """
    for number, line in enumerate(split_lines(chunks, path), start=1):
        if not line.strip():
            continue
        try:
            content = json.loads(line)
        except ValueError as exc:
            problem = f"line {number:,} is not JSON ({exc})"[:300]
            raise unusable_file_error(path, problem, "bad_record", line=number) from None
        if isinstance(content, dict) and "pmid" not in content and "status" in content:
            continue
        try:
            article = Article.model_validate(content)
        except ValidationError as exc:
            first = exc.errors()[0]
            location = ".".join(map(str, first["loc"])) or "it"
            problem = f"line {number:,} is not an article ({location}: {first['msg']})"
            raise unusable_file_error(path, problem, "bad_record", hint=_ARTICLES, line=number) from None
        yield convert_article(article, None, path, number)
