echo '{"failed": 6, "slowest": "/report", "clients": ["ada", "grace", "linus"]}'
