"""Schedulers side by side on a real API server: `make bench`.

A workload (workloads/) says which pods come and how; an arena (arena.py) is an API server with nodes where one run after another
takes place; a run (run.py) lets one contender (contenders.py) schedule a workload, with the clock on; then it is checked that no
node is over-committed (checks.py), and how good the placements are (quality.py). results.py keeps it, report.py shows it.
"""
