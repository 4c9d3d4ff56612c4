# /// spade
# id = "spade/DeviceSetup-v0"
# title = "Device setup"
# summary = "Set the devices of a house as wished, though some have no remote and only follow others."
# domain = "tools"
# skills = ["exploration", "causal discovery", "planning"]
# origin = "seed"
# max_episode_steps = 30
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from itertools import product
from typing import Literal

from spade_envs import ToolEnv

DEVICES = ("lamp", "fan", "oven", "heater", "radio", "pump", "blind", "bell", "lock", "screen")
MODES = ("off", "low", "high")


class DeviceSetup(ToolEnv):
    """You set up the devices of a house, each off, low or high. Bring all of them to the modes that are wished.

    Some devices have no remote. They follow others: whenever a device with a remote is set to a certain mode, even
    if it was in that mode before, one device without a remote may go to a certain mode along with it. Nobody wrote
    down which; it is always the same in one house. Find out, then set the devices in an order that leaves
    everything as wished, and call finish.
    """

    def __init__(self, render_mode=None, difficulty=1):
        super().__init__(render_mode=render_mode)
        self._follower_count = difficulty
        self._remote_count = (2, 3, 5)[difficulty - 1]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        devices = self.np_random.permutation(DEVICES).tolist()[: self._remote_count + self._follower_count]
        self._remotes, self._followers = devices[: self._remote_count], devices[self._remote_count :]
        self._wishes = {device: self._pick(MODES) for device in sorted(devices)}
        self._modes = {device: self._unwished_mode(device) for device in sorted(devices)}
        self._keys = {f: (r, self._unwished_mode(r)) for f, r in zip(self._followers, self._remotes)}
        self._effects = self._some_effects()
        self._tried = set()
        self._looked = False
        remotes, followers = self._listed(self._remotes), self._listed(self._followers)
        return f"Wished with a remote: {remotes}. Wished without one: {followers}.", {}

    def tool_look(self) -> dict:
        """Look at the modes of all devices."""
        self._looked = True
        return self._modes

    def tool_set(self, device: str, mode: Literal["off", "low", "high"]) -> dict:
        """Set a device that has a remote, and see the modes of all devices.

        Args:
            device: The device's name.
            mode: The mode that it is to have.
        """
        if device not in self._remotes:
            return {"error": "no remote for that"}
        self._tried.add((device, mode))
        self._modes[device] = mode
        self._modes |= self._effects.get((device, mode), {})
        return self._modes

    def goal_reached(self, answer):
        return self._modes == self._wishes

    def hint(self):
        order = self._places(self._followers, self._followers)
        movers = self._places([remote for remote, _ in self._keys.values()], self._remotes)
        return (
            f"Number both lists of the task. Settle those without a remote last, in this order: {order}. In turn, a"
            f" mode of these remotes brings them there: {movers}. Set that device back before you take the next."
        )

    def expert_action(self):
        if not self._looked:
            return {"name": "look", "arguments": {}}
        untried = [pair for pair in product(sorted(self._remotes), MODES) if pair not in self._tried]
        if any(key in untried for key in self._keys.values()):
            return self._set(*untried[0])
        for remote in self._remotes[self._follower_count :]:
            if self._modes[remote] != self._wishes[remote]:
                return self._set(remote, self._wishes[remote])
        for follower, key in self._keys.items():
            if self._modes[follower] != self._wishes[follower]:
                return self._set(*key)
            if self._modes[key[0]] != self._wishes[key[0]]:
                return self._set(key[0], self._wishes[key[0]])
        return {"name": "finish", "arguments": {"answer": "done"}}

    def _some_effects(self):
        """Draw which device follows when another is set.

        Each follower has a key that brings it to its wish. Setting the key's device back disturbs only followers
        that come later, so that they can be settled in order.
        """
        effects = {}
        for place, remote in enumerate(self._remotes):
            for mode in MODES:
                is_last = mode == self._wishes[remote] and place < self._follower_count
                disturbed = self._followers[place + 1 :] if is_last else self._followers
                if disturbed and self.np_random.random() < 0.7:
                    follower = self._pick(disturbed)
                    effects[remote, mode] = {follower: self._unwished_mode(follower)}
        return effects | {key: {follower: self._wishes[follower]} for follower, key in self._keys.items()}

    def _unwished_mode(self, device):
        return self._pick([mode for mode in MODES if mode != self._wishes[device]])

    def _pick(self, options):
        return options[int(self.np_random.integers(len(options)))]

    def _listed(self, devices):
        return ", ".join(f"{device} {self._wishes[device]}" for device in sorted(devices))

    def _places(self, devices, listed):
        return ", ".join(str(sorted(listed).index(device) + 1) for device in devices)

    def _set(self, device, mode):
        return {"name": "set", "arguments": {"device": device, "mode": mode}}
