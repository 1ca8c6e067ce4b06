"""One window of one model, read once, every head measured: what scan and reproduce stand on."""
