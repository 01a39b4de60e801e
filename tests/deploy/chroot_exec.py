"""Runs a program as a container does: in another root folder, as user 65532, without capabilities.

usage: chroot_exec.py ROOT PROGRAM ARG..."""

import ctypes
import os
import sys

USER = 65532
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38

libc = ctypes.CDLL(None, use_errno=True)
os.chroot(sys.argv[1])
os.chdir("/")
for capability in range(64):
    libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails for numbers that the kernel does not know
os.setgroups([])
os.setresgid(USER, USER, USER)
os.setresuid(USER, USER, USER)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
    sys.exit("no_new_privs cannot be set")
os.execv(sys.argv[2], sys.argv[2:])
