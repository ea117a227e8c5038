"""What pytest offers where pixie-otel is installed."""
