"""From a call to its code: passes, candidates, variants, one call's plan."""
