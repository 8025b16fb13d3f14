"""From a call to its code: passes, candidates, targets, units, one call's plan."""
