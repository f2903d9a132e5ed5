"""Makes trees of files for tests, and tells what a kernel shows of one. Knows nothing of Siphon.

build DIR           reads on stdin what to make, in this order, one thing a line; paths and other octets are in hex:
                      dir PATH | file PATH SIZE SEED | sparse PATH SIZE | symlink PATH TARGET | link PATH EXISTING
                      attribute PATH NAME VALUE | fifo PATH | status PATH MODE UID GID NANOSECONDS
show DIR            one line for each name, by name: all that the packer promises to keep
show DIR readable   the same as it is to be with modes that are readable to all
show DIR image      the same of an image, whose links are what it says and not what was counted
"""
import hashlib
import os
import stat
import sys

octets = bytes.fromhex


def content(size, seed):
    return hashlib.shake_128(seed.encode()).digest(size)


def make(root, kind, path, *more):
    # part by part: a path may be longer than a call takes
    os.chdir(root)
    *above, at = octets(path).split(b"/")
    for part in above:
        os.chdir(part)
    if kind == "dir":
        os.mkdir(at)
    elif kind == "file":
        with open(at, "wb") as file:
            file.write(content(int(more[0]), more[1]))
    elif kind == "sparse":
        with open(at, "wb") as file:
            file.truncate(int(more[0]))
            file.seek(int(more[0]) - 3)
            file.write(b"end")
    elif kind == "symlink":
        os.symlink(octets(more[0]), at)
    elif kind == "link":
        os.link(os.path.join(root, octets(more[0])), at, follow_symlinks=False)
    elif kind == "attribute":
        os.setxattr(at, octets(more[0]), octets(more[1]), follow_symlinks=False)
    elif kind == "fifo":
        os.mkfifo(at)
    elif kind == "status":
        os.lchown(at, int(more[1]), int(more[2]))
        if not os.path.islink(at):
            os.chmod(at, int(more[0], 8))
        os.utime(at, ns=(0, int(more[3])), follow_symlinks=False)
    else:
        raise ValueError(kind)


def digest(path, size):
    if size > 1 << 30:  # its beginning and its end
        with open(path, "rb") as file:
            first = file.read(1 << 20)
            file.seek(-(1 << 20), os.SEEK_END)
            return hashlib.md5(first + file.read()).hexdigest()
    with open(path, "rb") as file:
        return hashlib.md5(file.read()).hexdigest()


def permissions(status, readable):
    if not readable:
        return stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return 0o777
    return 0o555 if stat.S_ISDIR(status.st_mode) or status.st_mode & 0o111 else 0o444


def attributes(path, readable):
    return [
        (name, os.getxattr(path, name, follow_symlinks=False))
        for name in sorted(os.listxattr(path, follow_symlinks=False))
        if name.startswith("user.") or (name.startswith("system.posix_acl") and not readable)
    ]


def names(root):
    """Every path below root but sockets, FIFOs and devices."""
    yield root
    for name in sorted(os.listdir(root)):
        path = os.path.join(root, name)
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode):
            yield from names(path)
        elif stat.S_ISREG(mode) or stat.S_ISLNK(mode):
            yield path


def show(root, readable, image):
    paths = list(names(root))
    same = {}
    for path in paths:
        status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode):
            same.setdefault((status.st_dev, status.st_ino), []).append(path)
    for path in paths:
        status = os.lstat(path)
        shown = [
            os.path.relpath(path, root),
            stat.filemode(status.st_mode)[0],
            oct(permissions(status, readable)),
            (0, 0) if readable else (status.st_uid, status.st_gid),
            status.st_mtime_ns,
            attributes(path, readable),
        ]
        if stat.S_ISDIR(status.st_mode):
            # what readdir says is what a look at the name says
            with os.scandir(path) as entries:
                kinds = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
            shown += [[kind for kind in kinds if kind[1]], status.st_nlink]
        else:
            # names outside of the tree do not count
            others = same[(status.st_dev, status.st_ino)]
            shown += [status.st_size, status.st_nlink if image else len(others), os.path.relpath(others[0], root)]
        if stat.S_ISREG(status.st_mode):
            shown.append(digest(path, status.st_size))
        if stat.S_ISLNK(status.st_mode):
            shown.append(os.readlink(path))
        print(ascii(shown))


if sys.argv[1] == "build":
    for line in sys.stdin:
        make(os.fsencode(sys.argv[2]), *line.rstrip("\n").split(" "))
else:
    show(os.fsencode(sys.argv[2]), "readable" in sys.argv[3:], "image" in sys.argv[3:])
