"""Does the cited paper say it? Claims of a draft or a table, looked for in the texts they cite."""
