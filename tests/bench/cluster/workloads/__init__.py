"""What is scheduled; after the workloads of kube-scheduler's own performance suite (test/integration/scheduler_perf)."""
