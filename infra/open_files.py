"""How many files and connections a process may have open at once: each stream is one."""

import resource

_MANY = 65_536  # beyond this, programs that close all that they might have inherited take long to start


def allow_many_open_files() -> int:
    """Takes what the system lets this process and its children have, and gives it; shells begin with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MANY if hard == resource.RLIM_INFINITY else min(_MANY, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return _MANY if soft == resource.RLIM_INFINITY else soft
