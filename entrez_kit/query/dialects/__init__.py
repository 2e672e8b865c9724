"""Lines of search strategies in the languages of other services: their meaning, and their translation to PubMed."""
