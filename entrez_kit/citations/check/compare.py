"""The one comparison of a reference with a record: ``check`` and ``match`` judge by it."""

from entrez_kit.citations.check.comparing import Agreement, compare_fields
from entrez_kit.citations.check.text_comparing import compare_text
from entrez_kit.citations.files.references import Reference
from entrez_kit.pubmed.models import Article


def compare(reference: Reference, article: Article, *, any_author: bool = False) -> Agreement:
    """Compare a reference with a record.

    Args:
        reference: the reference, with fields or written out as text.
        article: the record.
        any_author: whether the one author that is given may be any of the record's.
    """
    if reference.text is not None:
        return compare_text(reference, article)
    return compare_fields(reference, article, any_author=any_author)
