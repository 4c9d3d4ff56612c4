# Document: A radio operator tunes a receiver. The signal is the stronger the nearer the dial is to the sender.
# Answer: a hidden number that is found by measuring
# Plan: a hidden frequency is narrowed down by a tool; asked is the frequency.
#
# /// spade
# id = "spade/RadioDial-v0"
# title = "Radio dial"
# summary = "Find a sender's frequency from how loud it is."
# domain = "science"
# skills = ["search", "measurement"]
# origin = "generated"
# generation_round = 0
# max_episode_steps = 14
# license = "Apache-2.0"
# contract = 1
# ///
from spade_envs import ToolEnv


class RadioDial(ToolEnv):
    """A sender uses a whole frequency from 100 to 999. Listen at any frequency: the loudness is 100 less the distance
    to the sender divided by ten, rounded down. Finish with the sender's frequency.
    """

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._sender = int(self.np_random.integers(100, 1000))
        self._low, self._high = 100, 999
        return "Find the sender. You may listen ten times.", {}

    def tool_listen(self, frequency: int) -> dict:
        """Listen at one frequency.

        Args:
            frequency: A whole number from 100 to 999.
        """
        distance = abs(frequency - self._sender)
        if frequency <= self._sender:
            self._low = max(self._low, frequency)
        if frequency >= self._sender:
            self._high = min(self._high, frequency)
        return {
            "loudness": 100 - distance // 10,
            "turn": "up" if self._low == frequency < self._high else "down",
        }

    def goal_reached(self, answer):
        return str(answer) == str(self._sender)

    def hint(self):
        return "Halve the range: listen in its middle and keep the half in which the sender is."

    def expert_action(self):
        if self._high - self._low > 1:
            return {"name": "listen", "arguments": {"frequency": (self._low + self._high) // 2}}
        return {"name": "finish", "arguments": {"answer": self._sender}}
