# /// spade
# id = "spade/LedgerAudit-v0"
# title = "Ledger audit"
# summary = "Hold a ledger against the bank's statements and correct exactly the entries that are wrong."
# domain = "tools"
# skills = ["reconciliation", "cross-checking", "error correction"]
# origin = "seed"
# max_episode_steps = 20
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from collections import Counter
from itertools import zip_longest

from spade_envs import ToolEnv

PAYEES = ("Ames", "Bell", "Cole", "Dunn", "Eady", "Ford", "Gray", "Hale", "Iles", "Kent")
FAULTS = ("mistyped mistyped", "mistyped doubled mistyped", "mistyped doubled omitted doubled")


class LedgerAudit(ToolEnv):
    """You audit a ledger. Make it agree with the bank's statements, payee by payee, then call finish.

    The bank is right and its statements are complete. It may book a payment a month after the ledger does: that is
    no error. Two equal payments to one payee can both be right. To one payee, at most one thing is wrong: an amount
    was mistyped, a payment was entered twice, or a payment was omitted. Correct a mistyped amount in its entry; of
    a payment entered twice, strike the entry with the higher number; add what was omitted. Change nothing else:
    no change can be taken back.
    """

    def __init__(self, render_mode=None, difficulty=1):
        super().__init__(render_mode=render_mode)
        self._months = difficulty
        self._faults = FAULTS[difficulty - 1].split()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._bank, written = [], []
        payees = self.np_random.permutation(PAYEES).tolist()[: 4 + 2 * self._months]
        for payee, fault in zip_longest(payees, self._faults):
            written += self._pay(payee, fault)
        entries = [written[n] for n in self.np_random.permutation(len(written))]
        self._ledger = dict(enumerate(sorted(entries, key=lambda entry: entry["month"]), 101))
        self._fixes = [fix for payee in payees for fix in self._reconciled(payee)]
        self._changes = []
        self._looked = []
        return f"Audit the ledger for the months 1 to {self._months}.", {}

    def tool_ledger(self, month: int) -> dict:
        """Read the ledger's entries of one month, by their number.

        Args:
            month: The month, from 1.
        """
        self._looked.append(("ledger", month))
        return {number: entry for number, entry in self._ledger.items() if entry["month"] == month}

    def tool_statement(self, month: int) -> list:
        """Read what the bank booked in one month.

        Args:
            month: The month, from 1.
        """
        self._looked.append(("statement", month))
        return sorted(f"{line['payee']}: {line['amount']}" for line in self._bank if line["month"] == month)

    def tool_correct(self, entry: int, amount: int) -> str:
        """Correct the amount of an entry.

        Args:
            entry: The entry's number.
            amount: The right amount.
        """
        return self._change("correct", entry=entry, amount=amount)

    def tool_strike(self, entry: int) -> str:
        """Strike an entry.

        Args:
            entry: The entry's number.
        """
        return self._change("strike", entry=entry)

    def tool_add(self, payee: str, amount: int) -> str:
        """Add a payment that the ledger lacks, as an entry of the last month.

        Args:
            payee: Who was paid.
            amount: The amount.
        """
        return self._change("add", payee=payee, amount=amount)

    def goal_reached(self, answer):
        return len(self._changes) == len(self._fixes) and all(fix in self._changes for fix in self._fixes)

    def hint(self):
        faults = ", ".join(f"{count} {fault}" for fault, count in Counter(self._faults).items())
        return f"There are: {faults}. Take payee by payee, and cross off equal amounts whatever their months."

    def expert_action(self):
        for month in range(1, self._months + 1):
            for book in ("ledger", "statement"):
                if (book, month) not in self._looked:
                    return {"name": book, "arguments": {"month": month}}
        for fix in self._fixes:
            if fix not in self._changes:
                return fix
        return {"name": "finish", "arguments": {"answer": "done"}}

    def _pay(self, payee, fault):
        """Let the bank book two payments to a payee, and return what the ledger says of them."""
        draw = self.np_random
        first, second = int(draw.integers(100, 400)), int(draw.integers(500, 1000))
        if fault is None and draw.random() < 0.5:
            second = first
        months = draw.integers(1, self._months + 1, size=2).tolist()
        for amount, month in zip((first, second), months):
            booked = min(self._months, month + int(draw.integers(2)))
            self._bank.append({"month": booked, "payee": payee, "amount": amount})
        typo = first + int(draw.choice((-90, -9, 9, 90)))
        said = {"mistyped": [typo], "doubled": [first, first], "omitted": []}.get(fault, [first])
        dated = [*((months[0], amount) for amount in said), (months[1], second)]
        return [{"month": month, "payee": payee, "amount": amount} for month, amount in dated]

    def _reconciled(self, payee):
        """Return the calls that make the ledger agree with the bank on a payee."""
        lacking = [line["amount"] for line in self._bank if line["payee"] == payee]
        surplus = []
        for number, entry in self._ledger.items():
            if entry["payee"] == payee and entry["amount"] in lacking:
                lacking.remove(entry["amount"])
            elif entry["payee"] == payee:
                surplus.append(number)
        if surplus and lacking:
            return [call("correct", entry=surplus[0], amount=lacking[0])]
        strikes = [call("strike", entry=number) for number in surplus]
        return strikes + [call("add", payee=payee, amount=amount) for amount in lacking]

    def _change(self, name, **arguments):
        if "entry" in arguments and arguments["entry"] not in self._ledger:
            return "There is no such entry."
        self._changes.append(call(name, **arguments))
        match name:
            case "correct":
                self._ledger[arguments["entry"]]["amount"] = arguments["amount"]
            case "strike":
                del self._ledger[arguments["entry"]]
            case "add":
                self._ledger[max(self._ledger, default=100) + 1] = {"month": self._months, **arguments}
        return "The change is made."


def call(name, **arguments):
    return {"name": name, "arguments": arguments}
