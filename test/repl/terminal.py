"""dync repl at a pseudo-terminal.

usage: terminal.py DYNC FOLDER
"""
import ctypes
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import sys
import time

dync, folder = sys.argv[1], pathlib.Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
PROMPT, MORE = "dyn> ", "...> "

RUN = """model at()() -> [3] {
  param x: [3] = -1
  return x
}
train slow(lr = 1e-6) {
  model p = at()
  loss sum((p() - 2)^2)
  optimizer adam(lr=lr)
  steps 30_000_000
  precision f64
}
train short(lr = 1e-3) {
  model p = at()
  loss sum((p() - 2)^2)
  optimizer adam(lr=lr)
  steps 2_000_000
  precision f64
}
train scheduled {
  model p = at()
  loss sum((p() - 2)^2)
  optimizer adam(lr=cosine(0.1))
  steps 30_000_000
}
"""
(folder / "spec.dyn").write_text(RUN)


class Terminal:
    def __init__(self, *arguments):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(XDG_STATE_HOME=str(folder / "state"), TERM="xterm", LC_ALL="C.UTF-8", COLUMNS="80")
            os.execv(dync, [dync, "repl", *arguments])
        self.text = ""
        self.wait(PROMPT)

    def wait(self, *wanted, seconds=60):
        """Reads until one of the texts ends what was seen; gives all of it without control sequences."""
        end = time.time() + seconds
        while not self.plain().endswith(wanted):
            if time.time() > end or not self.read(end - time.time()):
                raise SystemExit(f"waited for {wanted!r}, saw {self.plain()[-400:]!r}")
        seen, self.text = self.plain(), ""
        return seen

    def read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], max(seconds, 0))
        if not ready:
            return False
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            return False
        self.text += piece.decode("utf-8", "replace")
        return bool(piece)

    def plain(self):
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r", "", self.text)

    def send(self, keys):
        os.write(self.fd, keys.encode())

    def enter(self, line):
        self.send(line + "\n")
        return self.wait(PROMPT, MORE)

    def see(self, pattern, seconds=60):
        """Reads until a pattern matches."""
        end = time.time() + seconds
        while not re.search(pattern, self.plain()):
            if time.time() > end or not self.read(end - time.time()):
                raise SystemExit(f"waited for {pattern!r}, saw {self.plain()[-400:]!r}")

    def begin(self, line):
        """Enters a run and waits until it has done steps."""
        self.send(line + "\n")
        self.see(r"step [1-9]\d*/")

    def pause(self, line):
        self.begin(line)
        self.send("\x03")
        return self.wait(PROMPT)

    def close(self):
        self.send("\x04")
        return self.status()

    def status(self, seconds=60):
        """Waits for the end; the exit status, negative for a signal."""
        end = time.time() + seconds
        while time.time() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.read(0):  # what it said last
                    pass
                return os.waitstatus_to_exitcode(status)
            if not self.read(0.1):
                time.sleep(0.1)
        os.kill(self.pid, signal.SIGKILL)
        raise SystemExit(f"the session does not end, after {self.plain()[-400:]!r}")


def expect(text, *wanted):
    for part in wanted:
        if not re.search(part, text):
            raise SystemExit(f"no {part!r} in {text!r}")


def entries():
    session = Terminal()
    expect(session.enter("1 + 1"), r"2 : int")
    # An entry goes on until the parser has enough, and Ctrl-C or two empty lines give it up.
    assert session.enter("x = [1, 2,").endswith(MORE)
    expect(session.enter("3]"), r"x = \[1, 2, 3\] : int\[3\]")
    assert session.enter("fn f(y) =").endswith(MORE)
    session.send("\x03")
    session.wait(PROMPT)
    expect(session.enter("x"), r"\[1, 2, 3\]")
    assert session.enter("fn f(y) = (").endswith(MORE)
    assert session.enter("").endswith(MORE)
    expect(session.enter(""), "E0009|E0002")
    # Ctrl-C at an empty prompt ends nothing; a key moves the cursor.
    session.send("\x03")
    session.wait(PROMPT)
    expect(session.enter("+ 1\x01x"), r"\[2, 3, 4\]")
    # Completion of a name, of a command, of a file.
    session.send("cross_ent\t")
    session.wait("cross_entropy")
    session.send("\x15:pl\t")
    session.wait(":plan  :plot  \ndyn> :pl", ":pl")
    session.send("\x15:load sp\t\n")
    expect(session.wait(PROMPT), r"train slow\(lr = 1e-6\)")
    assert session.close() != 0, "one entry was refused"


def history():
    session = Terminal()
    session.enter("7*191")
    assert session.close() == 0
    session = Terminal()
    session.send("\x1b[A\n")
    expect(session.wait(PROMPT), "1337 : int")
    assert session.close() == 0


def pausing():
    session = Terminal("spec.dyn")
    expect(session.pause("run a = slow()"), r"a is paused after step \d+ of 30000000")
    expect(session.enter("a.params.p.x"), r"\[-?[\d.]+, -?[\d.]+, -?[\d.]+\] : \[3\]")
    expect(session.enter("a.optimizer.m"), r"\[-\d.*\] : \[3\]")
    before = int(re.search(r"after step (\d+)", session.enter("continue 100 steps")).group(1))
    expect(session.enter("continue 50"), rf"paused after step {before + 50} ")
    expect(session.enter("last(a.loss)"), r"\n[\d.e+-]+ : real")
    expect(session.enter("set lr 1e-5"), rf"lr = 1e-5 from step {before + 50} on")
    expect(session.enter("set beta1 0.8"), r"optimizer\.beta1 = 0\.8 from step")
    expect(session.enter("set betta1 0.8"), r"did you mean `beta1`\?", "E0705")
    expect(session.enter(":time"), "in all")
    expect(session.enter(":plot loss"), "a.loss over step", "┤")
    expect(session.enter("continue 1 steps"), rf"paused after step {before + 51} ")
    expect(session.enter("stop"), r"a is stopped after step")
    expect(session.enter("continue"), "the run `a` is over", "E0704")
    expect(session.pause("run s = scheduled"), "s is paused")
    expect(session.enter("set lr 1e-4"), "`optimizer.lr` follows the schedule `cosine`", "E0706")
    expect(session.enter("set lr cosine(0.2)"), r"optimizer\.lr = cosine\(0\.2\) from step")
    session.close()


def bits():
    """A run that was paused ends with the bits of one that was not."""
    session = Terminal("spec.dyn")
    session.send("run p = short\n")
    session.see("run p = short\n")
    session.send("\x03")  # also before its first step
    seen = session.wait(PROMPT)
    pauses = 0
    while "is paused" in seen:
        pauses += 1
        seen = session.enter("continue 1000 steps" if pauses < 4 else "continue")
    expect(session.enter("run q = short"), "q: 2000000 steps")
    expect(session.enter("expect same(p.params.p.x, q.params.p.x) and same(last(p.loss), last(q.loss))"), "holds")
    assert pauses > 0, "the run was over before it was paused"
    assert session.close() == 0


def typed_ahead():
    """Keys that come while an entry is carried out belong to the next line, Ctrl-D too."""
    session = Terminal("spec.dyn")
    session.send("run p = short\n")
    session.see("run p = short\n")
    session.send("1 + 1\n\x04")
    assert session.status() == 0
    expect(session.plain(), "p: 2000000 steps", "2 : int")


def sweeps():
    session = Terminal("spec.dyn")
    session.send("sweep s = slow with seed in 0..4\n")
    session.see("0 of 4 members")
    session.send("\x03")
    expect(session.wait(PROMPT), r"error: s: interrupted after 0 of 4 members \[E\d+\]")
    expect(session.enter("s"), "nothing is called `s`")
    session.close()


def threads(session):
    """Thread ids by name."""
    folder = pathlib.Path(f"/proc/{session.pid}/task")
    found = {}
    for task in folder.iterdir():
        found.setdefault((task / "comm").read_text().strip(), []).append(int(task.name))
    return found


def crash(session, thread):
    tgkill = 234 if os.uname().machine == "x86_64" else 131
    assert ctypes.CDLL(None, use_errno=True).syscall(tgkill, session.pid, thread, signal.SIGSEGV) == 0


def crashes():
    """A crash in the code of a run costs that run; one where nothing can be saved says so."""
    session = Terminal("spec.dyn")
    session.enter("kept = 3")
    session.pause("run a = slow")
    session.begin("continue")
    crash(session, threads(session)["run a"][0])
    expect(session.wait(PROMPT), r"error: a failure inside the compiler; the session goes on as it was before this entry "
           r"\[E0708\]\nnote: in the code of the run `a`, which is given up\n")
    expect(session.enter("kept"), "3 : int")
    expect(session.enter("a"), "nothing is called `a`")
    expect(session.enter("run a = short"), "a: 2000000 steps")
    session.begin("run b = slow")
    other = next(thread for name, all in threads(session).items() if name != "run b"
                 for thread in all if thread != session.pid)
    crash(session, other)
    assert session.status() == -signal.SIGSEGV
    expect(session.plain(), "error: a failure in the code of a run; the session is lost. Please report it with what was "
           "entered")


for test in (entries, history, pausing, bits, typed_ahead, sweeps, crashes):
    test()
print("a session holds")
