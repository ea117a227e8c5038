"""The write half: making spans of what an application does, without the application noticing."""
