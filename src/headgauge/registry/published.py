"""What arXiv 2508.17821 prints, as it prints it, and the columns that name what it leaves open.

Whether any of it is found again is judged in `headgauge.paper`, by the limits there.
"""

CHOICE = ("vectors", "scale", "keys")  # which vectors, of which length, of which keys
CHOICE_AND_RULE = (*CHOICE, "rule")  # under which normaliser; "model": its own weights

ARXIV = "arXiv 2508.17821"
GPT2_HEADS = 144  # of the model measured: 12 layers of 12 heads
LENGTHS = (32, 64, 128, 256, 512, 1024)  # L of Figure 2a

DISTANCE_N = 5  # Figure 2a, Algorithm 1
DISTANCE_NS = (1, 5, 10, 20, 100)  # Figure 2b, Algorithm 2
LEVELS = 0.01, 0.05  # of the KS test: in the text and Figure 2c, and in Algorithm 3
LEVEL = LEVELS[0]
LARGEST_N = 100  # Algorithm 3 goes up to it
CRITICAL_SHARE = 0.06  # of L, Figure 2c: "below 6 %" and "≈ .06 L" in the same paragraph
SETTLED = 16  # Figure 3: N from which N_s/N is said to stay within the plateau
PLATEAU = (0.70, 0.85)  # Figure 3
EPSILONS = (1e-3, 1e-1, 10.0)  # Figure 4, Algorithm 5
COLD, WARM = 0.1, 1.0  # T of Figure 4: 1/T below the one, collapse from the other on
DROP = 100.0  # Figure 4: "two orders of magnitude"
SEPARABLE, HEADS_TOGETHER, COVERED = 0.8, 3, 0.99  # Discussion: 3 heads at .8 cover 99 %

ALGORITHMS = {
    "1": "distance over L",
    "2": "distance over N",
    "3": "critical N",
    "4": "separability",
    "5": "sensitivity",
}
SECONDS = {  # Table 1, on a laptop of 10 cores
    "1": 24 * 60.0,
    "2": 37 * 60.0,
    "3": 17 * 3600.0 + 4 * 60,
    "4": 7 * 60.0,
    "5": 60.0,
}
RUN_TIME = "18 h 13 min"  # all five, as the text has it


def printed(*numbers: float) -> str:
    """A number or a range as the paper writes it."""
    return "–".join(f"{number:.2f}".removeprefix("0") for number in numbers)
