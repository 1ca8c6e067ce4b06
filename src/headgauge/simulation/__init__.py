"""What `headgauge simulate` computes: swarms of tokens on the sphere under every scheme.

found = headgauge.simulate(tokens=64, dim=128, beta=5, seeds=4)
found.tables["rates"]                       # theory beside measured
"""

from headgauge.simulation.result import Simulation
from headgauge.simulation.settings import SimulationSettings
from headgauge.simulation.simulating import run_settings, simulate
from headgauge.simulation.swarms import SwarmKind

__all__ = ["Simulation", "SimulationSettings", "SwarmKind", "run_settings", "simulate"]
