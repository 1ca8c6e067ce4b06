"""The page of a comparison of rules: the loss under each, the heads under any two of them, curves
side by side, what was fitted."""

from headgauge.comparison import RuleComparison
from headgauge.report.page import parts
from headgauge.report.page.comparison import compared_part
from headgauge.report.page.parts import Page, as_shown, section, text
from headgauge.report.page.scanning import came_about
from headgauge.report.rule_tables import fits_table, rules_table
from headgauge.report.rules import compared_rules, rule_curves_figure, rules_figure

_MAP = (
    "Any measure of every head, the difference between any two rules: on its logits is the rule "
    "put on the logits that the original model has, inside is the rule in the model, whose later "
    "layers get other inputs. A difference to the original has its standard error over windows."
)
_FITS = (
    "Chosen by the loss on windows behind those that are judged. One number for the model: a grid "
    "over the rule's range, then Brent's method; one for each layer or head: from there, steps of "
    "Adam along the gradient through the model. What did not lower the loss was not taken."
)


def rules_page(run: RuleComparison) -> Page:
    fits = run.tables["fits"].height > 0
    return Page(
        title=f"headgauge: rules in {run.model_name()}",
        caption=run.caption(),
        warnings=run.warnings(),
        stands=run.stands()[1:],
        overview=[
            *parts.opening("rules", run.finding()),
            as_shown(rules_table(run)),
            parts.notes(run.notes()),
        ],
        sections=[
            section("loss", "Loss", "Loss by rule", parts.figures([rules_figure(run, "")])),
            section(
                "map",
                "Heads",
                "Heads under two rules",
                text(_MAP),
                compared_part(compared_rules(run, ""), "entropy_share"),
            ),
            section("curves", "Curves", "Curves", parts.figures([rule_curves_figure(run, "")])),
            section("fits", "Fits", "Fitted parameters", text(_FITS), as_shown(fits_table(run)))
            if fits
            else None,
            came_about(run.manifest),
        ],
    )
