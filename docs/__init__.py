"""The pages here that are made from the code: `make docs`; tests say when one is stale."""
