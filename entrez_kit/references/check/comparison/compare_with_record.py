"""Compare a reference with a record. ``check`` and ``match`` both use this comparison."""

from entrez_kit.pubmed.models import Article
from entrez_kit.references.check.comparison.compare_fields import Agreement, compare_fields
from entrez_kit.references.check.comparison.compare_text import compare_text
from entrez_kit.references.files.references import Reference


def compare_record(reference: Reference, article: Article, *, any_author: bool = False) -> Agreement:
    """Compare a reference with a record.

    Args:
        reference: the reference, as fields or as text.
        any_author: whether the one author of the reference may be any author of the record.
    """
    if reference.text is not None:
        return compare_text(reference, article)
    return compare_fields(reference, article, any_author=any_author)
