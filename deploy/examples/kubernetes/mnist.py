"""Trains a small convolutional network on MNIST, and says how many of 10,000 other pictures it recognises.

It reads the dataset below DATA, one file for each picture, and keeps a checkpoint on the volume STATE. Killed at any
moment and started again, it goes on from there with the pictures that it has not seen yet.
"""

import os
import pathlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

DATA = pathlib.Path(os.environ.get("DATA", "/data"))
STATE = pathlib.Path(os.environ.get("STATE", "/state"))
EPOCHS = int(os.environ.get("EPOCHS", "1"))
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SIDE = 28
BATCH = 100
# pictures between two checkpoints
STRIDE = 10_000


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


def batches(pictures):
    """Pixels from 0 to 1, and labels, in the order of the pictures."""
    for pixels, labels in DataLoader(pictures, BATCH, num_workers=2, multiprocessing_context="fork"):
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
    while seen < EPOCHS * len(pictures):
        epoch, begin = divmod(seen, len(pictures))
        # the same order whenever this epoch is begun or gone on with
        order = torch.randperm(len(pictures), generator=torch.Generator().manual_seed(epoch)).tolist()
        for pixels, labels in batches(Subset(pictures, order[begin:])):
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(pixels), labels).backward()
            optimizer.step()
            seen += len(labels)
            if seen % STRIDE == 0:
                save(checkpoint, {"seen": seen, "network": network.state_dict(), "optimizer": optimizer.state_dict()})
                print(f"saved after {seen} pictures", flush=True)


@torch.no_grad()
def recognised(network, pictures):
    network.eval()
    return sum((network(pixels).argmax(1) == labels).sum().item() for pixels, labels in batches(pictures))


def main():
    torch.manual_seed(0)
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


if __name__ == "__main__":
    main()
