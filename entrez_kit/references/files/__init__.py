"""Files of reference managers: BibTeX, RIS, CSL-JSON and NBIB, written, read and corrected."""
