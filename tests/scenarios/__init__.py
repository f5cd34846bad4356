"""Stories in virtual time: real objects, the real engine, an in-memory API server, and what goes wrong between them."""
