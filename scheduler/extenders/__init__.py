"""The extender protocol (kube-scheduler/extender/v1): requests, answers, and whom to ask. Nothing is sent here."""
