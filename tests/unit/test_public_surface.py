"""Names, flags, fields, codes and schemas are public: what was promised stays, what is added is written down."""

import ast

import pytest
from kit_signatures import METHODS, module
from public_surface import SAVED, facts


def test_what_was_promised_is_still_there() -> None:
    saved = SAVED.read_text(encoding="utf-8").splitlines()

    assert saved, "nothing was saved"
    gone = sorted(set(saved) - set(facts()))
    assert not gone, "removed, renamed or changed, which is a breaking change:\n" + "\n".join(gone)


@pytest.mark.long
def test_what_was_added_is_saved() -> None:
    added = sorted(set(facts()) - set(SAVED.read_text(encoding="utf-8").splitlines()))

    assert not added, "new: run python tests/support/public_surface.py and name it in the changelog:\n" + "\n".join(
        added
    )


def test_the_methods_are_as_the_operations_have_them() -> None:
    saved = ast.parse(METHODS.read_text(encoding="utf-8"))

    assert ast.dump(ast.parse(module())) == ast.dump(saved), "run python tests/support/kit_signatures.py"
