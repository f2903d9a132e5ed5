"""Trains a small convolutional network on MNIST, and says how many of 10,000 other pictures it recognises.

It reads the dataset below DATA, one file for each picture, and keeps a checkpoint on the volume STATE. Killed at any
moment and started again, it goes on from there with the pictures that it has not seen yet. As one of several ranks it
learns from its share of each batch; rank 0 writes the checkpoint, and all go on from it.
"""

import datetime
import os
import pathlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, Subset

DATA = pathlib.Path(os.environ.get("DATA", "/data"))
STATE = pathlib.Path(os.environ.get("STATE", "/state"))
EPOCHS = int(os.environ.get("EPOCHS", "1"))
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
PATIENCE = datetime.timedelta(minutes=5)
SIDE = 28
# pictures of all ranks together
BATCH = 100
# pictures between two checkpoints
STRIDE = 10_000


def number(names, default):
    """The first of these variables: an Indexed Job's, torchrun's and PyTorchJob's, Open MPI's."""
    return int(next((os.environ[name] for name in names if name in os.environ), default))


RANK = number(["RANK", "OMPI_COMM_WORLD_RANK", "JOB_COMPLETION_INDEX"], 0)
RANKS = number(["WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "RANKS"], 1)


class Pictures(Dataset):
    """Reads a file when its picture is asked for, as torchvision's ImageFolder does."""

    def __init__(self, folder):
        self.paths = sorted(str(path) for path in folder.glob("*/*.pgm"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        path = self.paths[index]
        with open(path, "rb", buffering=0) as file:
            pixels = bytearray(file.read()[-SIDE * SIDE:])
        return torch.frombuffer(pixels, dtype=torch.uint8).view(1, SIDE, SIDE), int(path.split("/")[-2])


def batches(pictures, order):
    """Pixels from 0 to 1, and labels, of this rank's share of the pictures, in that order."""
    share = Subset(pictures, order[RANK::RANKS])
    for pixels, labels in DataLoader(share, max(1, BATCH // RANKS), num_workers=2, multiprocessing_context="fork"):
        yield pixels.to(DEVICE).float() / 255, labels.to(DEVICE)


def save(path, state):
    """Readers see all of it or nothing, and so does whoever comes after a crash."""
    aside = path.with_name(f".{path.name}")
    with open(aside, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)


def train(network, optimizer, pictures, seen, checkpoint):
    network.train()
    learner = DistributedDataParallel(network) if RANKS > 1 else network
    while seen < EPOCHS * len(pictures):
        epoch, begin = divmod(seen, len(pictures))
        # the same order whenever this epoch is begun or gone on with, and in all ranks
        order = torch.randperm(len(pictures), generator=torch.Generator().manual_seed(epoch)).tolist()[begin:]
        # all shares are of one size, because ranks learn step by step together
        order += order[:-len(order) % RANKS]
        for pixels, labels in batches(pictures, order):
            optimizer.zero_grad()
            nn.functional.cross_entropy(learner(pixels), labels).backward()
            optimizer.step()
            before, seen = seen, min(seen + len(labels) * RANKS, (epoch + 1) * len(pictures))
            if RANK == 0 and seen // STRIDE > before // STRIDE:
                save(checkpoint, {"seen": seen, "network": network.state_dict(), "optimizer": optimizer.state_dict()})
                print(f"saved after {seen} pictures", flush=True)


@torch.no_grad()
def recognised(network, pictures):
    """How many, of all ranks' shares together."""
    network.eval()
    right = torch.zeros(1, dtype=torch.int64, device=DEVICE)
    for pixels, labels in batches(pictures, range(len(pictures))):
        right += (network(pixels).argmax(1) == labels).sum()
    if RANKS > 1:
        dist.all_reduce(right)
    return right.item()


def main():
    torch.manual_seed(0)
    if RANKS > 1:
        # at MASTER_ADDR and MASTER_PORT
        dist.init_process_group("nccl" if DEVICE.type == "cuda" else "gloo", timeout=PATIENCE, rank=RANK, world_size=RANKS)
        print(f"rank {RANK} of {RANKS}", flush=True)
    network = nn.Sequential(nn.Conv2d(1, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                            nn.Conv2d(16, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
                            nn.Flatten(), nn.Linear(32 * 4 * 4, 128), nn.ReLU(), nn.Linear(128, 10)).to(DEVICE)
    optimizer = torch.optim.Adam(network.parameters())
    checkpoint, seen = STATE / "checkpoint.pt", 0
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=DEVICE, weights_only=True)
        seen = state["seen"]
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        print(f"goes on after {seen} pictures", flush=True)
    train(network, optimizer, Pictures(DATA / "train"), seen, checkpoint)
    test = Pictures(DATA / "test")
    print(f"{recognised(network, test)} of {len(test)} recognised", flush=True)
    if RANKS > 1:
        # no rank leaves while another still needs it
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
