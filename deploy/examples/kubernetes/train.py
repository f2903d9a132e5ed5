"""Trains a network on the images below DATA, alone or as one of several ranks, and keeps a checkpoint there.

It stands for your training; what it does with the volume is what yours will do: read many small files, write a
checkpoint aside and rename it, go on from the checkpoint after a restart, and in several ranks share one volume.
"""

import datetime
import gzip
import os
import pathlib
import shutil

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset

DATA = pathlib.Path(os.environ.get("DATA", "/data"))
EPOCHS = int(os.environ.get("EPOCHS", "10"))
DIGITS = pathlib.Path(__file__).with_name("digits.csv.gz")
PATIENCE = datetime.timedelta(minutes=2)
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SIDE = 8


def number(names, default):
    """The first of these variables: an Indexed Job's, torchrun's and PyTorchJob's, Open MPI's."""
    return int(next((os.environ[name] for name in names if name in os.environ), default))


RANK = number(["JOB_COMPLETION_INDEX", "RANK", "OMPI_COMM_WORLD_RANK"], 0)
RANKS = number(["RANKS", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"], 1)


def prepare():
    """A tree as ImageFolder reads it, images/CLASS/FILE, whole or not there. Put your own data in its place."""
    images, aside = DATA / "images", DATA / ".images"
    if images.exists():
        return
    shutil.rmtree(aside, ignore_errors=True)
    for index, line in enumerate(gzip.open(DIGITS, "rt")):
        *pixels, digit = map(int, line.split(","))
        (aside / str(digit)).mkdir(parents=True, exist_ok=True)
        # 64 pixels from 0 to 16, as a grey image in the format PGM
        (aside / str(digit) / f"{index:04}.pgm").write_bytes(b"P5 8 8 16\n" + bytes(pixels))
    aside.rename(images)


class Images(Dataset):
    """Reads a file when its image is asked for, as torchvision's ImageFolder does."""

    def __init__(self, folder):
        self.paths = sorted(folder.glob("*/*.pgm"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        path = self.paths[index]
        pixels = torch.tensor(list(path.read_bytes()[-SIDE * SIDE:]), dtype=torch.float32)
        return pixels.view(1, SIDE, SIDE) / 16, int(path.parent.name)


def batches(images, **options):
    return DataLoader(images, batch_size=32, num_workers=2, persistent_workers=True, multiprocessing_context="fork", **options)


def save(path, state):
    """Readers see all of it or nothing, and so does whoever comes after a crash."""
    aside = path.with_name(f".{path.name}")
    with open(aside, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)


def train(network, optimizer, images):
    network.train()
    for pixels, digits in images:
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(pixels.to(DEVICE)), digits.to(DEVICE)).backward()
        optimizer.step()


@torch.no_grad()
def right(network, images):
    network.eval()
    return sum((network(pixels.to(DEVICE)).argmax(1).cpu() == digits).sum().item() for pixels, digits in images)


def main():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                            nn.Linear(16 * (SIDE // 2) ** 2, 64), nn.ReLU(), nn.Linear(64, 10)).to(DEVICE)
    if RANK == 0:
        prepare()
    if RANKS > 1:
        # at MASTER_ADDR and MASTER_PORT; from here on the ranks are of one start, and rank 0 has prepared the images
        dist.init_process_group("nccl" if DEVICE.type == "cuda" else "gloo", timeout=PATIENCE, rank=RANK, world_size=RANKS)
    images = Images(DATA / "images")
    test = Subset(images, range(0, len(images), 5))
    training = Subset(images, [index for index in range(len(images)) if index % 5])
    share = DistributedSampler(training, RANKS, RANK)
    learning, testing = batches(training, sampler=share), batches(test)

    optimizer = torch.optim.Adam(network.parameters())
    checkpoint, done = DATA / "checkpoint.pt", 0
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=DEVICE, weights_only=True)
        done = state["epoch"]
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        print(f"rank {RANK} goes on after epoch {done}", flush=True)
    learner = DistributedDataParallel(network) if RANKS > 1 else network
    for epoch in range(done + 1, EPOCHS + 1):
        share.set_epoch(epoch)
        train(learner, optimizer, learning)
        if RANK == 0:
            save(checkpoint, {"epoch": epoch, "network": network.state_dict(), "optimizer": optimizer.state_dict()})
    percent = round(100 * right(network, testing) / len(test))
    print(f"rank {RANK} of {RANKS}: learnt {len(training)} images, {percent}% of {len(test)} others right", flush=True)
    if RANKS > 1:
        # no rank leaves while another still needs it
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
