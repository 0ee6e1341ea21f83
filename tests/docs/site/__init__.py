"""The documentation as a site (`make site`, mkdocs.yml).

links    links and anchors of Markdown, and where they lead
order    which page stands where
http     docs/openapi.json as a page
hooks    what mkdocs asks: pages from elsewhere, links that lead out of docs/, nothing from other hosts
"""
