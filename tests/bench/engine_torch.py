"""PyTorch, channels last, which is its faster layout on CPUs."""
import numpy
import torch
from torch import nn

SIDES = {"flowers": 180, "residual": 64}


def name():
    return f"PyTorch {torch.__version__}"


class Scale(nn.Module):
    def forward(self, x):
        return x * (1.0 / 255)


def flowers():
    parts = [Scale()]
    for before, filters in (3, 16), (16, 32), (32, 64):
        parts += [nn.Conv2d(before, filters, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*parts, nn.Flatten(), nn.Linear(22 * 22 * 64, 128), nn.ReLU(),
                         nn.Linear(128, 5))


def convolution(before, filters, size, stride):
    return nn.Sequential(
        nn.Conv2d(before, filters, size, stride, padding=size // 2, bias=False),
        nn.BatchNorm2d(filters))


class Block(nn.Module):
    def __init__(self, before, filters, stride):
        super().__init__()
        self.way = nn.Sequential(convolution(before, filters, 3, stride), nn.ReLU(),
                                 convolution(filters, filters, 3, 1))
        self.short = nn.Identity() if stride == 1 else convolution(before, filters, 1, stride)

    def forward(self, x):
        return torch.relu(self.way(x) + self.short(x))


def residual():
    return nn.Sequential(convolution(3, 32, 3, 1), nn.ReLU(), Block(32, 32, 1), Block(32, 64, 2),
                         Block(64, 128, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(128, 5))


def make(net, batch, file):
    model = {"flowers": flowers, "residual": residual}[net]().to(memory_format=torch.channels_last)
    side = SIDES[net]
    pixels = numpy.fromfile(file, "<f4").reshape(int(batch), side, side, 3)
    # The same memory seen as channels first is what PyTorch calls channels last.
    return model, torch.from_numpy(pixels).permute(0, 3, 1, 2)


def step(net, batch, file):
    model, x = make(net, batch, file)
    y = torch.arange(len(x)) % 5
    optimizer = torch.optim.Adam(model.parameters())
    loss_of = nn.CrossEntropyLoss()

    def run():
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()
    return run


def infer(net, batch, file):
    model, x = make(net, batch, file)
    model.eval()

    def run():
        with torch.inference_mode():
            return torch.softmax(model(x), 1).numpy()
    return run
