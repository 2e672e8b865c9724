"""Frozen copies of PubMed on this computer, and the E-utilities that answer from them.

An import has these stages:

1. ``source_files`` finds the files and recognizes their kinds, and ``plan_import`` chooses those that the copy does not
   have. ``file_order`` gives each a place: of several records of a PMID, the one in the latest file counts.
2. ``read_pubmed_xml``, ``read_jsonl`` and ``read_nbib`` divide a file into records and deletions, the ``FileEvent`` of
   ``file_events``. The records of the last two are converted to PubMed XML by ``article_to_xml``.
3. ``prepare_file`` parses each record, compresses it with ``packing``, and writes its part of the search index.
   ``import_workers`` does this for several files at once, in processes.
4. ``apply_file`` stores the prepared records of a file in one transaction; ``import_vocabulary`` stores a MeSH file.
5. ``manifest`` lists the files of the search index, and chooses those to merge.

``importing`` runs the stages. ``mirror`` downloads NLM's files for them, and ``verifying`` checks the result.

A copy is a folder: ``copies`` finds and opens it, and ``copy_file`` has the tables of its SQLite file. ``open_local``
opens what ``--local`` names. ``copy_entrez`` answers E-utility requests from a copy, with ``copy_mesh`` for MeSH and
``stored_vocabulary`` for the terms of searches. ``records/`` parses records, and ``eutils/`` writes the replies.
"""
