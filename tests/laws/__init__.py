"""What always holds, whatever happens."""
