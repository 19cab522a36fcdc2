"""What an operator sees of a running process: its health, numbers, log lines and traces."""
