"""Whether a change of the code made it slower: series of two sides or of many revisions, and what is said of them."""
