"""What a run leaves behind: its tables, their schema, its manifest."""
