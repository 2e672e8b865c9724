"""A small model2vec model that a test can build."""

from pathlib import Path

WORDS = [
    "[PAD]",
    "[UNK]",
    "zebrafish",
    "fish",
    "danio",
    "heart",
    "cardiac",
    "muscle",
    "regeneration",
    "insulin",
    "sugar",
]
MEANINGS = {
    **dict.fromkeys(("zebrafish", "fish", "danio"), (1.0, 0.0, 0.0)),
    **dict.fromkeys(("heart", "cardiac", "muscle"), (0.0, 1.0, 0.0)),
    **dict.fromkeys(("insulin", "sugar"), (0.0, 0.0, 1.0)),
}


def build_tiny_model(folder: Path, dim: int = 3) -> Path:
    """Make a static model of eleven words; words of one meaning have one vector."""
    import numpy as np
    from model2vec import StaticModel
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    vectors = np.array([(*MEANINGS.get(word, (0.0, 0.0, 0.0)), *([0.1] * (dim - 3))) for word in WORDS])
    StaticModel(vectors.astype(np.float32), tokenizer, config={"model_type": "model2vec"}).save_pretrained(folder)
    return folder
