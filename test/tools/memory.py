"""Runs a command and fails if it fails or takes more memory.

    memory.py MEGABYTES COMMAND...
"""
import resource
import subprocess
import sys

limit, *command = sys.argv[1:]
status = subprocess.run(command).returncode
taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
if status == 0 and taken > float(limit):
    sys.exit(f"memory: {taken:.0f} MB, and {limit} were allowed")
sys.exit(status)
