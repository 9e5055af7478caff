"""What the machine gives: a supervised process tree, a server that forks, the private folder of one trial."""
