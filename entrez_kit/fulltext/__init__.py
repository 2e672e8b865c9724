"""Full text of articles: from PMC, Europe PMC and open-access copies, as sections, Markdown or plain text."""
