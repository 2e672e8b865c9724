"""PubMed's query language: lexer, parser, resolution of terms, evaluation on an index, and printing."""
