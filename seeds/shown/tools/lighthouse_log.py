# Document: A lighthouse keeper notes which ships pass and what they carry, and is asked for the total of one cargo.
# Answer: the total of one kind, when each part has to be looked up
# Plan: each night has a cargo and its tons, read by a tool; asked is the sum of one cargo.
#
# /// spade
# id = "spade/LighthouseLog-v0"
# title = "Lighthouse log"
# summary = "Read the log of every night and add up one cargo."
# domain = "tools"
# skills = ["retrieval", "addition"]
# origin = "generated"
# generation_round = 0
# max_episode_steps = 12
# license = "Apache-2.0"
# contract = 1
# ///
from spade_envs import ToolEnv

CARGOES = ["coal", "salt", "timber", "wool"]


class LighthouseLog(ToolEnv):
    """A lighthouse keeper keeps a log of the ships of each night. Read the nights, add up what is asked for, and
    finish with the number.
    """

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._nights = {}
        for night in range(1, int(self.np_random.integers(4, 8))):
            cargo = CARGOES[int(self.np_random.integers(len(CARGOES)))]
            self._nights[night] = (cargo, int(self.np_random.integers(10, 60)))
        self._wanted = self._nights[1][0]
        self._read = set()
        return f"How many tons of {self._wanted} passed in nights 1 to {len(self._nights)} together?", {}

    def tool_read_night(self, night: int) -> dict:
        """Read the log of one night.

        Args:
            night: The number of the night, from 1.
        """
        if night not in self._nights:
            return {"error": "there is no such night"}
        self._read.add(night)
        cargo, tons = self._nights[night]
        return {"cargo": cargo, "tons": tons}

    def goal_reached(self, answer):
        return str(answer) == str(self._total())

    def hint(self):
        return f"Read every night and add only the tons of {self._wanted}."

    def expert_action(self):
        for night in self._nights:
            if night not in self._read:
                return {"name": "read_night", "arguments": {"night": night}}
        return {"name": "finish", "arguments": {"answer": self._total()}}

    def _total(self):
        return sum(tons for cargo, tons in self._nights.values() if cargo == self._wanted)
