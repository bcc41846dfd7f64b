"""The data queries, by what they are about: read the question, ask one module, answer."""
