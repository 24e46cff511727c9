"""This process gives up files and connections before native code gets an untrusted model.

Landlock (Linux 5.13) denies files and, from its fourth version on, TCP; seccomp denies sockets. The C library has no
functions for Landlock, so its three system calls are made by number; the numbers are the same on all architectures but
Alpha. Neither covers the names, sizes and permissions of files.
"""

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterator
from typing import Final

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_GET_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_O_PATH: Final = getattr(os, "O_PATH", 0)

# Rights to files: number of rights that each version of Landlock knows, without ioctl on devices (version 5).
_RIGHTS_BY_VERSION: Final = {1: 13, 2: 14, 3: 15}
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_FILE, _MAKE_REG, _TRUNCATE = (
    1 << bit for bit in (0, 1, 2, 3, 5, 8, 14)
)
_READ: Final = _EXECUTE | _READ_FILE | _READ_DIR
_READ_AND_WRITE: Final = _READ | _WRITE_FILE | _TRUNCATE
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE  # a rule for a file may have no others
_FIRST_VERSION_WITH_NETWORK, _FIRST_VERSION_WITH_SCOPES = 4, 6
_TCP: Final = 3  # bind and connect
_SCOPES: Final = 3  # abstract sockets and signals: only those of this process

# Libraries, and what the system tells about the machine.
_READABLE: Final = (
    *("/usr", "/lib", "/lib64", "/opt", "/etc/ld.so.cache", "/sys"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys"),
)
_WRITABLE: Final = ("/proc/self", "/dev/null", "/dev/shm", "/dev/random", "/dev/urandom")  # noqa: S108
_READABLE_BY_DRIVERS: Final = ("/etc", "/proc", "/run")  # of accelerators
_WRITABLE_BY_DRIVERS: Final = ("/dev",)

# By architecture: its name for seccomp, and the number of socket(). io_uring makes sockets too.
_SOCKET_CALLS: Final = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
_IO_URING_SETUP: Final = 425
_X32_CALLS: Final = 0x40000000  # numbers from here on are another set of the same calls
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_GREATER_OR_EQUAL, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 13  # the error is EACCES

FILES, CONNECTIONS = "files", "connections"


def confine(folder: str, *, with_drivers: bool) -> tuple[str, ...]:
    """Restrict this process to the interpreter, its libraries, and writing to `folder`; return what it cannot deny.

    Open files stay open. Threads that run already are not restricted. `with_drivers` leaves the files and sockets that
    drivers of accelerators use.
    """
    if sys.platform != "linux":
        return FILES, CONNECTIONS
    libc = ctypes.CDLL(None, use_errno=True)
    has_threads = len(os.listdir("/proc/self/task")) > 1  # noqa: PTH208
    if has_threads or libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return FILES, CONNECTIONS
    version = _restrict_files(libc, folder, with_drivers)
    has_network_rule = version >= _FIRST_VERSION_WITH_NETWORK if with_drivers else _deny_sockets(libc)
    return (*((FILES,) if not version else ()), *((CONNECTIONS,) if not has_network_rule else ()))


def _restrict_files(libc: ctypes.CDLL, folder: str, with_drivers: bool) -> int:
    """Return the version of Landlock that restricts this process; 0 if none does."""
    version = int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_GET_VERSION)))
    if version < 1:
        return 0
    handled = (1 << _RIGHTS_BY_VERSION[min(version, 3)]) - 1
    attributes = struct.pack("=Q", handled)
    if version >= _FIRST_VERSION_WITH_NETWORK:
        attributes += struct.pack("=Q", _TCP)
    if version >= _FIRST_VERSION_WITH_SCOPES:
        attributes += struct.pack("=Q", _SCOPES)
    ruleset = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    if ruleset < 0:
        return 0
    try:
        allowed = all(
            _allow(libc, ruleset, path, rights & handled) for path, rights in _allowed_paths(folder, with_drivers)
        )
        return version if allowed and not libc.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0)) else 0
    finally:
        os.close(ruleset)


def _allowed_paths(folder: str, with_drivers: bool) -> Iterator[tuple[str, int]]:
    python = {sys.prefix, sys.base_prefix, sys.exec_prefix, *filter(None, sys.path)}
    libraries = filter(os.path.isabs, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    readable = (*_READABLE, *sorted(python), *libraries, *(_READABLE_BY_DRIVERS if with_drivers else ()))
    yield from ((path, _READ) for path in readable)
    yield from ((path, _READ_AND_WRITE) for path in (*_WRITABLE, *(_WRITABLE_BY_DRIVERS if with_drivers else ())))
    if folder:
        yield folder, _READ_AND_WRITE | _MAKE_REG | _REMOVE_FILE


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> bool:
    """Add a rule for a path and all that is below it; a path that does not exist needs none."""
    try:
        handle = os.open(path, _O_PATH | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        allowed = rights if os.path.isdir(path) else rights & _OF_FILES  # noqa: PTH112
        rule = struct.pack("=Qi", allowed, handle)
        return bool(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, ctypes.c_uint32(0)) == 0)
    finally:
        os.close(handle)


def _deny_sockets(libc: ctypes.CDLL) -> bool:
    """Refuse the system calls that create sockets; return whether that succeeded."""
    if platform.machine() not in _SOCKET_CALLS:
        return False
    architecture, socket_call = _SOCKET_CALLS[platform.machine()]
    filter_program = (
        (_LOAD, 0, 0, 4),  # the architecture
        (_JUMP_IF_EQUAL, 0, 4, architecture),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_JUMP_IF_GREATER_OR_EQUAL, 2, 0, _X32_CALLS),
        (_JUMP_IF_EQUAL, 1, 0, socket_call),
        (_JUMP_IF_EQUAL, 0, 1, _IO_URING_SETUP),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    )
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *each) for each in filter_program))
    program = struct.pack("@HP", len(filter_program), ctypes.addressof(instructions))
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0) == 0)
