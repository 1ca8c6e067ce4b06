"""`python -m docs`: write the pages anew."""

from pathlib import Path

from docs import claims, parts, results

HERE = Path(__file__).parent

if __name__ == "__main__":
    (HERE / "claims.md").write_text(claims.render(), encoding="utf-8")
    page = HERE / "results.md"
    page.write_text(results.render(page.read_text(encoding="utf-8")), encoding="utf-8")
    parts.write()
