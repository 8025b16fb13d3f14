"""What each target's code looks like; decides nothing about order or storage."""
