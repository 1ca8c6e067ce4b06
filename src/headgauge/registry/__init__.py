"""Every thing that is measured, judged, chosen or printed, described once.

Docs, terminal, figures and page take names, symbols, units, limits, colours and explanations from
here; the page gets them as JSON. It imports nothing of ours.
"""
