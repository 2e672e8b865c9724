"""PubMed's query language, and the index that it searches.

A query passes through these stages, each in its modules::

    lexing      lexer                   text -> tokens, with the repairs that PubMed makes silently
    parsing     parser                  tokens -> a syntax tree of operands and groups, from left to right
    resolution  resolve                 operands -> parts of the algebra, with what PubMed reports about them
                resolve_values          ... of fields with whole values: headings, names, journals, dates, filters
                mapping, names          ... of words without a field: term mapping, people
                units                   joins resolved parts and their reports
                algebra                 the resolved query: sets of records over fields
    evaluation  evaluate                the algebra -> the records, on an index
    printing    printing                the algebra -> PubMed's QueryTranslation

``search`` runs all of them. ``unsettled`` has the rules that no documentation and no recorded reply settles.

The data of the stages: ``fields``, ``filters``, ``mesh`` (vocabulary and journals), ``dates``, and ``words`` (folded
words, stopwords). ``record_terms`` has the terms of a record for the index, which is in ``segments``.

These modules need only the syntax tree: ``conditions`` splits a query at AND and NOT, ``reduction`` simplifies one
whose parts match everything or nothing, and ``foreign_syntax`` recognizes queries for other services, which
``dialects`` reads.
"""
