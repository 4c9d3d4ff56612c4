# /// spade
# id = "spade/MeetingPlanner-v0"
# title = "Meeting planner"
# summary = "Book the earliest hour at which everybody is free, in a room that is large enough."
# domain = "tools"
# skills = ["data retrieval", "multi-step workflows", "tool selection"]
# origin = "seed"
# max_episode_steps = 12
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from spade_envs import ToolEnv

PEOPLE = ("Amira", "Bruno", "Chen", "Dalia", "Emre", "Freya", "Goran", "Hana")
ROOMS = ("Maple", "Cedar", "Birch", "Aspen", "Larch")
HOURS = range(9, 18)


class MeetingPlanner(ToolEnv):
    """You book meetings. Use the tools, then call finish.

    A meeting takes one whole hour, from 9 to 17 o'clock. Book the earliest hour at which everybody who was named
    is free and at which a room with enough seats is free; of such rooms, take the smallest. Book once, and nothing
    else.
    """

    def __init__(self, render_mode=None, difficulty=1):
        super().__init__(render_mode=render_mode)
        self._invited_count = 1 + difficulty

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        draw = self.np_random
        self._busy = {name: self._some_hours(4) for name in PEOPLE}
        self._rooms = {room: int(seats) for room, seats in zip(ROOMS, draw.permutation((2, 4, 6, 8, 10)))}
        self._taken = {room: self._some_hours(5) for room in ROOMS}
        self._invited = [PEOPLE[n] for n in draw.choice(len(PEOPLE), size=self._invited_count, replace=False)]
        lunch = int(draw.integers(9, 18))  # one hour is free for all, so that a meeting is always possible
        for hours in (*self._busy.values(), *self._taken.values()):
            hours.discard(lunch)
        self._bookings = []
        self._asked = set()
        return f"Book a meeting for {' and '.join(self._invited)}.", {}

    def tool_calendar(self, person: str) -> dict:
        """Look up the hours at which a person is busy.

        Args:
            person: The person's first name.
        """
        self._asked.add(person)
        if person not in self._busy:
            return {"error": f"nobody is called {person}"}
        return {"busy": self._busy[person]}

    def tool_rooms(self) -> dict:
        """List all rooms with their seats and the hours at which they are taken."""
        self._asked.add("rooms")
        return {room: {"seats": self._rooms[room], "taken": self._taken[room]} for room in ROOMS}

    def tool_book(self, room: str, hour: int) -> dict:
        """Book a room for one hour.

        Args:
            room: The room's name.
            hour: The full hour at which the meeting begins, 9 to 17.
        """
        if room not in self._rooms or hour not in HOURS or hour in self._taken[room]:
            return {"error": "that room is not free at that hour"}
        self._bookings.append((room, hour))
        return {"booked": room, "hour": hour}

    def goal_reached(self, answer):
        return self._bookings == [self._best()]

    def hint(self):
        return "Ask for every named person's calendar and for the rooms; cross out busy hours, then look for a room."

    def expert_action(self):
        for person in self._invited:
            if person not in self._asked:
                return {"name": "calendar", "arguments": {"person": person}}
        if "rooms" not in self._asked:
            return {"name": "rooms", "arguments": {}}
        if not self._bookings:
            room, hour = self._best()
            return {"name": "book", "arguments": {"room": room, "hour": hour}}
        return {"name": "finish", "arguments": {"answer": "booked"}}

    def _some_hours(self, count):
        return {int(hour) for hour in self.np_random.choice(HOURS, size=count, replace=False)}

    def _best(self):
        fitting = sorted((seats, room) for room, seats in self._rooms.items() if seats >= len(self._invited))
        calendars = [self._busy[name] for name in self._invited]
        for hour in HOURS:
            for _, room in fitting:
                if all(hour not in busy for busy in (self._taken[room], *calendars)):
                    return room, hour
        return None
