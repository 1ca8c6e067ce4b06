"""A training's log, as it is written and read; none of it needs torch.

`lines` has its form, `writing` writes it, `line_reading` reads it line by line, `usual_lines` many
of them at once (`batches`). `reading` makes tables of it (`tables`), `thinning` a few parts of one
that is long, `following` looks at one again and again while it grows, `words` says what it says.
"""
