"""Pure functions of records: rounds, objective, report. Nothing in here touches the world."""
