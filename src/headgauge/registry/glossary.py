"""What a page shows and what its letters mean, for someone who has not read the papers."""

from typing import Literal, NamedTuple

# Of a run, and so of its page.
Kind = Literal[
    "scan",
    "reproduction",
    "simulation",
    "validation",
    "comparison",
    "rules",
    "remedy",
    "training",
]

INTRODUCTION: dict[Kind, str] = {
    "scan": "An attention head gives every token weights on the tokens it sees and passes on their "
    "values, mixed by these weights. This page asks of every head how well it selects: does "
    "it pick out a few tokens, spread over all, or rest on the first?",
    "reproduction": "arXiv 2508.17821 says how far attention can single out N tokens of L. This "
    "page repeats its figures on a model of your own, holds each of its claims against what was "
    "measured, and beside the printed formulas draws those that hold.",
    "simulation": "arXiv 2510.22026 follows tokens through the layers of a transformer as "
    "particles on a sphere that attention draws together. This page lets them go under each way "
    "of normalising, and shows how soon they become one point.",
    "validation": "What a head is worth can be measured: its output is replaced by its mean, and "
    "the loss rises. This page holds every number, verdict and role of the heads against that "
    "rise, on text that was not used to choose a line, and says which of them foretell it.",
    "comparison": "Finished scans of the same shape, of two models, checkpoints, quantisations or "
    "texts, held against each other head by head: what differs, whether that is more than windows "
    "differ among themselves, and which heads got or lost a verdict.",
    "rules": "Attention turns logits into weights by a rule, usually softmax. This page puts other "
    "rules into the same trained model and reads the same windows: what happens to the loss, to "
    "the predictions, and to every head.",
    "remedy": "A verdict comes with a remedy. This page puts each into the heads that have the "
    "verdict, without training, and shows what it did: to the loss on text that named no head and "
    "chose no parameter, to the number behind the verdict, and beside random heads of the same "
    "layers.",
    "training": "While a model trains, its attention heads change: one may put all its weight on a "
    "few keys and learn no more, one's logits may grow until the loss breaks down. This page shows "
    "every head at every logged step, and where an alarm was raised.",
}


class Term(NamedTuple):
    term: str
    words: str
    pages: tuple[Kind, ...]


_HEADS = {
    "L": "The length of a window: how many tokens the model reads at once.",
    "row, α": "The weights α of one query token on its keys, the tokens it sees; they add up to 1.",
    "N": "How many tokens count as selected: those with the N largest weights.",
    "vectors x": "What stands for a token: its value in the head (value), what enters the layer "
    "(hidden) or the model (embedding), or the final vectors.",
    "final vectors": "What leaves the last layer: the same x for every head.",
    "s": "The selected tokens as one point: the sum of their weighted vectors α x.",
    "distance d̃": "How far s lies from the tokens left out, added up over them (eq. 7).",
    "N_s/N": "Separability: the share of the N selected tokens that lie nearer to s than every "
    "token left out. 1: the selection stands apart; 0: none of it can be told from the rest.",
    "eq. 24": "The appendix's formula for the distance to be expected if the N tokens were "
    "drawn at random. It lies below the true expectation; the one in the main text is false.",
    "sandwich": "A lower and an upper line with the true value for certain between them. Around "
    "the expectation: eq. 24 below, the root of the second moment above.",
    "sink": "The first token, on which many heads put weight they have no use for.",
    "‖∇α‖₂": "The Jacobian norm: how far the weights move for the worst small step in the logits; "
    "at most 1/2.",
    "saturated": "Fewer than half of the selected tokens can be told from the rest.",
    "diffuse": "What is not on the sink is spread over nearly all keys.",
    "unstable": "A small step in the logits moves the weights far, or a logit is very large.",
    "inactive": "What the head hands on is short beside the other heads of its layer.",
    "role": "What a head mostly does: looks at the token before, at what followed the same token, "
    "at the first token, near, far; mixed where nothing stands out.",
    "effect": "How much the loss rises without the head: its output replaced by its mean.",
    "value, unit, visible": "What a number is about: these vectors, brought to length 1 (unit) or "
    "not (raw), over the keys that a query sees (visible) or all of the window.",
    "windows differ": "In how many of the windows a head's verdict would be another.",
}
_PAPER = {
    "critical N": "The first N at which a test cannot tell the heads' distances from the expected "
    "ones.",
    "T, ε, g": "Temperature; a step in the logits; how far the weights follow it.",
}
_SPHERE = {
    "n, d": "How many tokens there are, and in how many dimensions.",
    "t": "Time: one unit is one layer whose step has size 1.",
    "β": "How sharply attention prefers near tokens: weights go as e^{β·cosine}.",
    "γ": "The cosine of two tokens: 0 at right angles, 1 when they have merged. At equal angles "
    "all pairs have the same γ, and it can be followed exactly.",
    "r, ‖A‖": "The length of a token, and of what attention adds to it.",
    "scheme": "Where a model normalises (Post-LN, Pre-LN, Mix-LN, Peri-LN, nGPT, LN-Scaling), "
    "which sets how fast its tokens turn; unnormalised: attention without softmax's denominator.",
    "collapse": "Even the farthest pair of tokens has a cosine of .999: the layers that follow "
    "have nothing left to tell apart.",
}
_WORTH = {
    "effect": "The rise of the loss, in nats per token, when a head's output is replaced.",
    "area": "Under the ROC curve: of two heads of a layer, one with an effect below the layer's "
    "median and one without, how often the first has the higher number. .5 is chance.",
    "adjusted interval": "So wide that all intervals of the run hold at once, with 95 %.",
    "control": "As many random heads of the same layers as a verdict names.",
    "balanced accuracy": "The mean of the shares that are told rightly, of either kind.",
}
_COMPARED = {
    "difference": "What a number is in one run less what it is in the one it is held against.",
    "error": "The standard error of a difference, from its spread over windows: of the paired "
    "differences where both runs read the same windows, else from the spread in each.",
    "past 2 errors": "A difference of more than two standard errors. With few windows chance gives "
    "many of these: how many stands beside.",
    "moved": "How far a head moved: the root mean square of its differences in the main measures, "
    "each in standard deviations over all heads.",
}
_RULES = {
    "rule": "What turns a row of logits into weights. The weights of the model were trained for "
    "its own; training with another could change every number.",
    "paired difference": "The loss under a rule less that of the original model, window by window; "
    "its error is the standard error of these differences over windows.",
    "decided": "Better or worse where the 95 % interval of the difference leaves out 0; undecided "
    "elsewhere, and always with one window.",
    "KL": "Kullback and Leibler's divergence of the next token's probabilities under the rule from "
    "the original model's: 0 where they are the same.",
    "top-1 agrees": "The share of tokens after which both hold the same next token likeliest.",
    "fitted": "Chosen by the loss on other windows than those that are judged.",
    "to fitted softmax": "The difference to softmax at a fitted temperature: what a rule does "
    "beyond sharpening or flattening.",
    "on its logits": "The rule on the logits that the original model has in this layer.",
    "inside": "The rule in every chosen head at once: later layers get other inputs.",
}
_TRIED = {
    "change of the loss": "The loss under the remedy, in nats per token, less that of the model as "
    "it is, on the same windows.",
    "candidate": "A rule with its parameters. Where a remedy has several, the one with the least "
    "loss on a few windows is judged on others.",
    "random heads": "As many others of the same layers, without the verdict, that get the same "
    "remedy; a draw is one such set.",
    "mean": "The head is taken out: its mean over other windows stands in its place.",
    "interval": "So wide that the intervals of all remedies of the run hold at once, with 95 %.",
}
_TRAINED = {
    "step": "One step of the optimiser. One in so many is logged: on it, the heads are measured on "
    "the rows of one micro-batch.",
    "H/log n": "Entropy share: 0 where a head puts all weight on one key, 1 where it has the same "
    "for all n that it sees.",
    "largest logit": "The largest q·k·scale of all rows of the micro-batch, none left out.",
    "p₁": "The largest weight of a row.",
    "alarm": "A measure of a head has passed its line. It is cleared where the measure has come "
    "back well behind it, so that it does not come and go at every step.",
    "QK-clip": "Where a head's largest logit is above a line, its query and key weights are shrunk "
    "so that it falls to the line.",
    "part": "Of a long log, so many lines that follow one another. Lines show the smallest and the "
    "largest of each part, the map its last.",
}
_TOLD: tuple[tuple[tuple[Kind, ...], dict[str, str]], ...] = (
    (("scan", "reproduction"), _HEADS),
    (("reproduction",), _PAPER),
    (("simulation",), _SPHERE),
    (("validation",), _WORTH),
    (("comparison",), _COMPARED),
    (("rules",), _RULES),
    (("remedy",), _TRIED),
    (("training",), _TRAINED),
)
GLOSSARY = tuple(Term(term, words, pages) for pages, told in _TOLD for term, words in told.items())


def terms(kind: Kind) -> list[Term]:
    """What a page of this kind needs, in the order to read it in."""
    return [each for each in GLOSSARY if kind in each.pages]
