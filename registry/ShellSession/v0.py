# /// spade
# id = "spade/ShellSession-v0"
# title = "Shell session"
# summary = "Find, move and remove files on a small computer by typing commands, and harm nothing else."
# domain = "tools"
# skills = ["command line", "search", "state modification"]
# origin = "seed"
# max_episode_steps = 24
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from copy import deepcopy
from dataclasses import dataclass

from spade_envs import ToolEnv

FOLDERS = ("/home", "/home/post", "/office", "/office/old", "/office/old/box")
NAMES = ("minutes", "travel", "menu", "letter", "survey", "budget", "speech", "recipe", "poem", "contract")
NOTES = ("please file", "paid in cash", "read on Monday", "second copy", "ask the baker", "nothing urgent")


@dataclass
class Disk:
    files: dict
    folders: set

    def run(self, command):
        """Carry out one command and return what it prints."""
        match command.split():
            case ["ls", folder] if folder in self.folders:
                inside = [
                    path for path in {*self.files, *self.folders} if path != "/" and parent(path) == folder
                ]
                return "\n".join(sorted(inside)) or "(empty)"
            case ["cat", file] if file in self.files:
                return self.files[file]
            case ["grep", word, folder] if folder in self.folders:
                below = folder.rstrip("/") + "/"
                hits = [
                    f"{p}: {text}" for p, text in self.files.items() if p.startswith(below) and word in text
                ]
                return "\n".join(sorted(hits)) or "(nothing found)"
            case ["mkdir", folder] if self._may_stand(folder) and folder not in self.files:
                self.folders.add(folder)
            case ["mv", old, new] if old in self.files and self._may_stand(new):
                self.files[new] = self.files.pop(old)
            case ["rm", file] if file in self.files:
                del self.files[file]
            case _:
                return "That did not work. Is a path, the command or the number of words wrong?"
        return "ok"

    def _may_stand(self, path):
        return path.startswith("/") and parent(path) in self.folders and path not in self.folders


class ShellSession(ToolEnv):
    """You sit at the terminal of a small computer. Do the chores that are asked for, then call finish.

    The commands are: ls FOLDER, cat FILE, grep WORD FOLDER (all lines below the folder that contain the word),
    mkdir FOLDER, mv FILE FILE (a new name, which may be in another folder), rm FILE. Paths begin with a slash; there
    are no wildcards. mv replaces a file that stands in its way. All files and folders that no chore speaks of must
    stay as they are.
    """

    def __init__(self, render_mode=None, difficulty=1):
        super().__init__(render_mode=render_mode)
        self._chore_count = difficulty

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._numbers = (self.np_random.choice(9000, 20, replace=False) + 1000).tolist()
        self._files = {
            f"{self._pick(FOLDERS)}/{name}.txt": f"{self._pick(NOTES)}, order {self._numbers.pop()}"
            for name in NAMES
        }
        chores = (self._gather(), self._prune(), self._swap())[: self._chore_count]
        self._plan = [command for _, commands in chores for command in commands]
        self._disk = Disk(self._files, {"/", "/drafts", "/settings", *FOLDERS})
        self._wanted = deepcopy(self._disk)
        for command in self._plan:
            self._wanted.run(command)
        self._done = set()
        return "\n".join(f"{n}. {text}" for n, (text, _) in enumerate(chores, 1)), {}

    def tool_run(self, command: str) -> str:
        """Run one command and see what it prints.

        Args:
            command: The command with its words, for example ls /home
        """
        self._done.add(command)
        return self._disk.run(command)

    def goal_reached(self, answer):
        return self._disk == self._wanted

    def hint(self):
        return (
            f"{len(self._plan)} commands are enough. Search from the top folder, and mind longer numbers that contain"
            " yours. Compare versions as numbers. To exchange two files, park one under a third name."
        )

    def expert_action(self):
        for command in self._plan:
            if command not in self._done:
                return {"name": "run", "arguments": {"command": command}}
        return {"name": "finish", "arguments": {"answer": "done"}}

    def _gather(self):
        """Three files are about one order; a fourth one is about a longer number that contains it."""
        order, folder = self._numbers.pop(), f"/order{self.np_random.integers(10, 100)}"
        trap, *paths = self.np_random.permutation(list(self._files)).tolist()[:4]
        self._files[trap] = f"{self._pick(NOTES)}, order {order}{self.np_random.integers(10)}"
        for path in paths:
            self._files[path] = f"{self._pick(NOTES)}, order {order}"
        moves = [f"mv {path} {folder}/{path.split('/')[-1]}" for path in paths]
        text = f"Move every file about order {order} into the new folder {folder}. Keep the files' names."
        return text, [f"grep {order} /", f"mkdir {folder}", *moves]

    def _prune(self):
        """Of numbered versions only the highest stays; as numbers, 10 comes after 9."""
        removals = []
        for name in ("plan", "song"):
            versions = sorted((self.np_random.choice(12, 3, replace=False) + 1).tolist())
            paths = [f"/drafts/{name}-{version}.txt" for version in versions]
            self._files |= {path: self._pick(NOTES) for path in paths}
            removals += [f"rm {path}" for path in paths[:-1]]
        return "In /drafts, keep only the highest version of each text.", ["ls /drafts", *removals]

    def _swap(self):
        """Two of three files have each other's names."""
        first, second, third = (
            f"/settings/{n}.conf" for n in self.np_random.permutation(("mail", "disk", "clock"))
        )
        self._files |= {path: f"limit = {self._numbers.pop()}" for path in (first, second, third)}
        text = f"The files {first} and {second} have each other's names: exchange them."
        return text, [f"mv {first} /settings/spare", f"mv {second} {first}", f"mv /settings/spare {second}"]

    def _pick(self, texts):
        return texts[int(self.np_random.integers(len(texts)))]


def parent(path):
    return path.rpartition("/")[0] or "/"
