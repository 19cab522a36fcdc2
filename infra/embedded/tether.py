"""Ties a process to the life of its parent, then becomes the command: tether.py PARENT SIGNAL COMMAND…

Runs as a script, without site-packages, so that it costs a few milliseconds. The kernel keeps the tie across
exec (also of `unshare`, not of a change of user) and breaks it for grandchildren. It fires when the *thread*
that started the process ends: start children from the main thread.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, number: int, command: list[str]) -> None:
    """Sends `number` to this process when its parent ends. Elsewhere than on Linux there is no such tie."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:  # it ended before the tie was there
            os.kill(os.getpid(), signal.SIGKILL)
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
