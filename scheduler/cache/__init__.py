"""What is known of the cluster: nodes as columns, pods by UID. One owner, no copies: the cache is the snapshot."""
