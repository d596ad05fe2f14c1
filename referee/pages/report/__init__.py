"""A tournament as a report: gathered from its records, and written as one page or as a folder of pages."""
