"""
A folder as macOS's file system has it: apfs.py <folder> <mount point>. A file is reached by any name that differs from its own only in
case, or in how letters are composed. As git has them there (core.precomposeUnicode), names are read with letters composed.
"""

import os
import sys
import unicodedata

try:
    from fusepy import FUSE, FuseOSError, Operations  # Debian's name
except ImportError:
    from fuse import FUSE, FuseOSError, Operations

STAT = "mode nlink uid gid size ino blocks".split()


def folded(name):
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


class Apfs(Operations):
    use_ns = True

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, operation, path, *words):
        if operation == "init":
            return None
        try:
            return getattr(self, operation)(path, *words)
        except OSError as error:
            raise FuseOSError(error.errno)

    def real(self, path):
        at = self.folder
        for name in filter(None, path.split("/")):
            below = os.path.join(at, name)
            if not os.path.lexists(below) and os.path.isdir(at):
                below = next((os.path.join(at, one) for one in os.listdir(at) if folded(one) == folded(name)), below)
            at = below
        return at

    def getattr(self, path, handle=None):
        stat = os.lstat(self.real(path))
        times = {f"st_{one}time": getattr(stat, f"st_{one}time_ns") for one in "amc"}
        return {**{f"st_{one}": getattr(stat, f"st_{one}") for one in STAT}, **times}

    def rename(self, old, new):
        source, target = self.real(old), self.real(new)
        # A call may spell a name in another case.
        os.rename(source, os.path.join(os.path.dirname(target), os.path.basename(new)) if source == target else target)

    def create(self, path, mode, info=None):
        return os.open(self.real(path), os.O_RDWR | os.O_CREAT, mode)

    def readdir(self, path, handle):
        return [".", "..", *(unicodedata.normalize("NFC", name) for name in os.listdir(self.real(path)))]

    def access(self, path, mode): return os.lstat(self.real(path)) and 0
    def chmod(self, path, mode): return os.chmod(self.real(path), mode)
    def chown(self, path, user, group): return os.lchown(self.real(path), user, group)
    def link(self, path, old): return os.link(self.real(old), self.real(path))
    def mkdir(self, path, mode): return os.mkdir(self.real(path), mode)
    def open(self, path, flags): return os.open(self.real(path), flags)
    def read(self, path, size, offset, handle): return os.pread(handle, size, offset)
    def readlink(self, path): return os.readlink(self.real(path))
    def release(self, path, handle): return os.close(handle)
    def rmdir(self, path): return os.rmdir(self.real(path))
    def symlink(self, path, target): return os.symlink(target, self.real(path))
    def truncate(self, path, length, handle=None): return os.truncate(self.real(path), length)
    def unlink(self, path): return os.unlink(self.real(path))
    def utimens(self, path, times=None): return os.utime(self.real(path), ns=times, follow_symlinks=False)
    def write(self, path, text, offset, handle): return os.pwrite(handle, text, offset)


FUSE(Apfs(sys.argv[1]), sys.argv[2], foreground=True, nothreads=True, default_permissions=True, use_ino=True, attr_timeout=0, entry_timeout=0)
