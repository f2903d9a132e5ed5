"""Trains a classifier on the images below DATA, alone or as one of several ranks, and keeps a checkpoint there.

Plain Python, so that any image that has Python runs it: a PyTorch image as well as python:slim. It stands for your
training; what it does with the volume is what yours will do: read many small files, write a checkpoint aside and
rename it, go on from the checkpoint after a restart, and in several ranks share one volume.
"""

import json
import math
import os
import pathlib
import random
import sys
import time

DATA = pathlib.Path(os.environ.get("DATA", "/data"))
EPOCHS = int(os.environ.get("EPOCHS", "20"))
PER_DIGIT = int(os.environ.get("IMAGES", "30"))
PATIENCE_SECONDS = 120
RATE = 0.1
SIDE = 8
DIGITS = ["111101101101111", "010110010010111", "111001111100111", "111001111001111", "101101111001001",
          "111100111001111", "111100111101111", "111001001001001", "111101111101111", "111101111001111"]


def number(names, default):
    """The first of these variables: an Indexed Job's, torchrun's and PyTorchJob's, Open MPI's."""
    return int(next((os.environ[name] for name in names if name in os.environ), default))


RANK = number(["JOB_COMPLETION_INDEX", "RANK", "OMPI_COMM_WORLD_RANK"], 0)
RANKS = number(["RANKS", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"], 1)


def write(path, data):
    """Readers see all of it or nothing, and so does whoever comes after a crash."""
    aside = path.with_name(f".{path.name}.{RANK}")
    with open(aside, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)


def await_file(path):
    end = time.monotonic() + PATIENCE_SECONDS
    while not path.exists():
        if time.monotonic() > end:
            sys.exit(f"rank {RANK}: {path} is not there after {PATIENCE_SECONDS} s")
        time.sleep(0.1)
    return path


def draw(digit, chance):
    """A digit with noise as a grey image of 8 x 8, in the format PGM."""
    left, top = chance.randint(2, 3), 1
    pixels = [[chance.randint(0, 40) for _ in range(SIDE)] for _ in range(SIDE)]
    for at, lit in enumerate(DIGITS[digit]):
        if lit == "1":
            pixels[top + at // 3][left + at % 3] = chance.randint(150, 255)
    return b"P5 8 8 255\n" + bytes(value for row in pixels for value in row)


def prepare():
    """A tree as ImageFolder reads it, images/CLASS/FILE, each rank its share. Put your own data in its place."""
    for digit in range(len(DIGITS)):
        folder = DATA / "images" / str(digit)
        folder.mkdir(parents=True, exist_ok=True)
        for index in range(RANK, PER_DIGIT, RANKS):
            if not (folder / f"{index:04}.pgm").exists():
                write(folder / f"{index:04}.pgm", draw(digit, random.Random(f"{digit} {index}")))
    (DATA / "ready").mkdir(exist_ok=True)
    write(DATA / "ready" / str(RANK), b"")
    for rank in range(RANKS):
        await_file(DATA / "ready" / str(rank))


def load():
    """Every fifth image is for the test."""
    training, test = [], []
    for path in sorted((DATA / "images").glob("*/*.pgm")):
        values = [value / 255 for value in path.read_bytes()[-SIDE * SIDE:]] + [1.0]
        (test if int(path.stem) % 5 == 0 else training).append((values, int(path.parent.name)))
    return training, test


def probabilities(weights, values):
    scores = [sum(w * v for w, v in zip(row, values)) for row in weights]
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    return [power / sum(powers) for power in powers]


def train(weights, images):
    for values, label in images:
        for digit, probability in enumerate(probabilities(weights, values)):
            step = RATE * ((digit == label) - probability)
            weights[digit] = [w + step * v for w, v in zip(weights[digit], values)]


def right(weights, images):
    guesses = (max(enumerate(probabilities(weights, values)), key=lambda each: each[1])[0] for values, _ in images)
    return sum(guess == label for guess, (_, label) in zip(guesses, images)) / len(images)


def read(path):
    content = await_file(path).read_bytes()
    try:
        return json.loads(content)
    except ValueError as wrong:
        again = path.read_bytes()
        sys.exit(f"rank {RANK}: {path}, {len(content)} bytes, begins {content[:32]}: {wrong}; "
                 f"read again it has {len(again)} bytes and begins {again[:32]}")


def mean(epoch, weights):
    """What all ranks have learnt, through the volume that they share."""
    folder = DATA / "epochs"
    folder.mkdir(exist_ok=True)
    write(folder / f"{epoch}.{RANK}", json.dumps(weights).encode())
    parts = [read(folder / f"{epoch}.{rank}") for rank in range(RANKS)]
    return [[sum(values) / RANKS for values in zip(*rows)] for rows in zip(*parts)]


def main():
    prepare()
    training, test = load()
    checkpoint = DATA / "checkpoint.json"
    done, weights = 0, [[0.0] * (SIDE * SIDE + 1) for _ in DIGITS]
    if checkpoint.exists():
        state = json.loads(checkpoint.read_bytes())
        done, weights = state["epoch"], state["weights"]
        print(f"rank {RANK} goes on after epoch {done}", flush=True)
    for epoch in range(done + 1, EPOCHS + 1):
        random.Random(epoch).shuffle(training)
        train(weights, training[RANK::RANKS])
        if RANKS > 1:
            weights = mean(epoch, weights)
        if RANK == 0:
            write(checkpoint, json.dumps({"epoch": epoch, "ranks": RANKS, "weights": weights}).encode())
    share = round(100 * right(weights, test))
    print(f"rank {RANK} of {RANKS}: learnt {len(training)} images, {share}% of {len(test)} others right", flush=True)


main()
