# Document: In a library, returned books must go back to the shelf of their subject before the doors close.
# Answer: reached when each thing lies where it belongs
# Plan: books are put on shelves by a tool; reached when each lies in its range.
#
# /// spade
# id = "spade/ShelfReturn-v0"
# title = "Shelf return"
# summary = "Put every returned book on the shelf where its number belongs."
# domain = "planning"
# skills = ["classification", "state modification"]
# origin = "generated"
# generation_round = 0
# max_episode_steps = 16
# license = "Apache-2.0"
# contract = 1
# ///
from spade_envs import ToolEnv


class ShelfReturn(ToolEnv):
    """Books have numbers and shelves hold a range of numbers. Put each book of the cart on its shelf, then finish.
    A book on a wrong shelf can be moved again.
    """

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        cuts = sorted(int(n) for n in self.np_random.choice(range(100, 900), size=3, replace=False))
        self._shelves = {
            "A": (0, cuts[0]),
            "B": (cuts[0], cuts[1]),
            "C": (cuts[1], cuts[2]),
            "D": (cuts[2], 1000),
        }
        books = self.np_random.choice(1000, size=int(self.np_random.integers(4, 8)), replace=False)
        self._place = {int(book): None for book in books}
        shelves = ", ".join(f"{name} from {low} to {high - 1}" for name, (low, high) in self._shelves.items())
        return f"Shelves: {shelves}. On the cart: {list(self._place)}.", {}

    def tool_put(self, book: int, shelf: str) -> str:
        """Put a book on a shelf.

        Args:
            book: The book's number.
            shelf: The shelf's letter.
        """
        if book not in self._place or shelf not in self._shelves:
            return "There is no such book or shelf."
        self._place[book] = shelf
        return f"Book {book} stands on shelf {shelf}."

    def goal_reached(self, answer):
        return all(shelf == self._right(book) for book, shelf in self._place.items())

    def hint(self):
        return "Compare each number with the ranges of the shelves, one book after the other."

    def expert_action(self):
        for book, shelf in self._place.items():
            if shelf != self._right(book):
                return {"name": "put", "arguments": {"book": book, "shelf": self._right(book)}}
        return {"name": "finish", "arguments": {"answer": "done"}}

    def _right(self, book):
        return next(name for name, (low, high) in self._shelves.items() if low <= book < high)
