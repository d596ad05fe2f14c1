"""The API for users of Python; `import referee` has its names, and `PYTHON.md` describes them."""
