"""Read references from text: split a pasted list into its references, and guess the parts of each."""
