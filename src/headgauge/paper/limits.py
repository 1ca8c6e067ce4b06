"""The limits that decide a word, all of them here, fixed before a run, each with its reason.

A number decides only if its interval lies on one side of a limit; an interval that reaches over it
makes the claim undecided on that text. None of these is fitted to a result: they say what a reader
of the paper would take its words to mean. Where the paper names the limit itself, it stands in
`registry.published`.
"""

# Rows. A mean over fewer rows of a head is moved by single rows more than by what is claimed, and
# of a single window no one knows how far it would move on another.
WINDOWS = 2
ROWS = 64  # per head at the longest L, for Figures 2 to 4
VANISHING_ROWS = 32  # of the last quarter of a window
COVERAGE_ROWS = 8  # per layer; every layer counts, and in it every set of heads

# Figure 2.
LINEAR = (0.85, 1.15)  # exponent in L: "roughly linearly"
CONSERVATIVE = 1.1  # bound over distance: a tenth above is more than rounding
LEVELLED = 0.15  # of the rise from N = 1 to 20: what may still come up to N = 100
CONVERGED = 0.1  # |log(E/d̃)| at N = 100: within a tenth of each other
TIGHTER = 0.98  # bound over distance at N = 100 against N = 20: 2 % is more than the bands

# Figure 2c.
CRITICAL = (0.03, 0.07)  # from half of .06, which is below, to a sixth above it, which is about
SHORTEST = 256  # L from which growth and share are looked at: below, .06 L is a few tokens
SUB_LINEAR = 1.0  # exponent in L below it
FOUND = 0.975  # of the draws have a critical N at every L: the tail of a 95 % interval may lack one

# Figure 3.
TRACKS = 0.05  # of N_s/N: a third of the plateau

# Figure 4.
FOLLOWS = (-1.25, -0.75)  # exponent in T: nearer to 1/T than to T^-.5 or T^-1.5
COLLAPSE = 0.1  # the curves of all ε within a tenth of each other
NEAR = (0.5, 1.0)  # of the printed bound: "close to the theoretical limit"

# Lemma 1 and Corollary 1.
VANISHES = (-1.25, -0.75)  # exponent in L: nearer to 1/L than to L^-.5 or L^-1.5
BOUND_NEAR = 10.0  # bound over weight: within an order of magnitude says something

# Assumptions 1 and 2.
COSINE = 0.05  # mean cosine of pairs; uniform vectors have 0
SPREAD = 0.5  # effective dimension over what as many uniform vectors have
APART = 1e-6  # δ of unit vectors: more than single precision makes of equal ones

# Discussion.
COVERED = 0.985  # rounds to the paper's 99 %
RISES = 1.1  # a Jacobian norm that grew by a tenth
UNMOVED = 0.02  # of N_s/N: as much as the bands of a mean over heads
SIGN = -0.5  # rank correlation over heads: a sign that orders two pairs of heads in three
RESTORES = 0.02  # of N_s/N: more than what counts as unmoved
