"""Playing in the browser: games in isolated workers, and any recorded episode step by step."""
