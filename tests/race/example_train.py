"""A training script: told by --device where to calculate, it prints how good its result is."""

import argparse
import json

import torch  # type: ignore[import-not-found]

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cpu")
parser.add_argument("--epochs", type=int, default=20)
options = parser.parse_args()

torch.manual_seed(1)
x = torch.randn(4096, 32)
y = (x[:, 0] * x[:, 1] > 0).long()
x, y = x.to(options.device), y.to(options.device)

model = torch.nn.Sequential(torch.nn.Linear(32, 128), torch.nn.ReLU(), torch.nn.Linear(128, 2))
model.to(options.device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(options.epochs):
    for start in range(0, len(x), 256):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x[start : start + 256]), y[start : start + 256])
        loss.backward()
        optimizer.step()

accuracy = (model(x).argmax(dim=1) == y).float().mean()
print(json.dumps({"loss": loss.item(), "accuracy": accuracy.item()}))  # noqa: T201
