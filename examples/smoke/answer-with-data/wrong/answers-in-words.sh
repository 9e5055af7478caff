echo "Three requests failed; /report was the slowest; ada, grace and linus were there."
