"""The models of ``gpu-verify advise`` against torch's own counts, on the CPU: no card is needed to count."""

from __future__ import annotations

import importlib
import unittest
from typing import Any

from verify.race import network_model
from verify.race.advise_memory import activations, parameters
from verify.race.advise_work import Job, multiply_adds, work
from verify.race.settings import Network

torch: Any = importlib.import_module("torch")
nn: Any = torch.nn
FlopCounter: Any = importlib.import_module("torch.utils.flop_counter").FlopCounterMode
OPTIMIZERS: dict[str, Any] = {
    "adam": torch.optim.AdamW,
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
}


class Transformer(nn.Module):  # type: ignore[misc]
    """Tokens in, one class out."""

    def __init__(self, wide: int, deep: int, vocabulary: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, wide)
        layer = nn.TransformerEncoderLayer(wide, wide // 64, 4 * wide, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, deep, enable_nested_tensor=False)
        self.head = nn.Linear(wide, 10)

    def forward(self, x: Any) -> Any:
        return self.head(self.layers(self.embedding(x)).mean(1))


def models() -> dict[str, tuple[Any, Any, Job]]:
    """Return networks with a batch and the job that describes them, by few numbers as a user would."""
    batch = 8
    found: dict[str, tuple[Any, Any, Job]] = {}
    for hidden in ((1024, 512), (256,) * 6, (2000,)):
        mlp = network_model.model(torch, Network(hidden=hidden))
        found[f"mlp {hidden}"] = (mlp, torch.randn(batch, 64), Job("mlp", batch, 64, batch=batch))
    cnn = network_model.model(torch, Network(kind="cnn"))
    found["cnn"] = (cnn, torch.randn(batch, 1, 16, 16), Job("cnn", batch, 256, batch=batch))
    deeper = nn.Sequential(
        *(part for a, b in ((3, 64), (64, 64), (64, 128), (128, 256), (256, 256)) for part in (
            nn.Conv2d(a, b, 3, padding=1, stride=1 + (a != b and a > 3)), nn.BatchNorm2d(b), nn.ReLU())),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10),
    )  # fmt: skip
    found["cnn with norms"] = (deeper, torch.randn(batch, 3, 32, 32), Job("cnn", batch, 3072, batch=batch))
    for wide, deep, tokens in ((256, 4, 128), (128, 2, 64)):
        tokens_in = torch.randint(0, 1000, (batch, tokens))
        job = Job("transformer", batch, tokens, batch=batch, layers=deep)
        found[f"transformer {wide}"] = (Transformer(wide, deep, 1000), tokens_in, job)
    return {
        name: (net, x, Job(**{**job.__dict__, "parameters": sum(p.numel() for p in net.parameters())}))
        for name, (net, x, job) in found.items()
    }


class AdviseModelTest(unittest.TestCase):
    def test_operations_of_a_step(self) -> None:
        for name, (net, x, job) in models().items():
            with self.subTest(name), FlopCounter(display=False) as counter:
                nn.functional.cross_entropy(net(x), torch.zeros(len(x), dtype=torch.long)).backward()
            counted, said = counter.get_total_flops(), work(job).flops
            with self.subTest(name):
                assert said.low <= counted <= said.high, (said, counted)

    def test_multiply_adds_that_are_given_are_taken(self) -> None:
        net, x, job = models()["cnn with norms"]
        with FlopCounter(display=False) as counter, torch.no_grad():
            net(x[:1])
        known = Job(**{**job.__dict__, "operations": counter.get_total_flops() / 2})
        assert multiply_adds(job).low < multiply_adds(known).low < multiply_adds(job).high
        with FlopCounter(display=False) as counter:
            net(x).sum().backward()
        said = work(known).flops
        assert said.low <= counter.get_total_flops() <= said.high

    def test_bytes_of_weights_gradients_and_states(self) -> None:
        for optimizer, make in OPTIMIZERS.items():
            for precision in ("float32", "float64"):
                net, x, job = models()["mlp (1024, 512)"]
                kind = getattr(torch, precision)
                net, x = net.to(kind), x.to(kind)
                opt = make(net.parameters())
                net(x).sum().backward()
                opt.step()
                held = {
                    "weights": sum(p.nbytes for p in net.parameters()),
                    "gradients": sum(p.grad.nbytes for p in net.parameters()),
                    "optimizer": sum(
                        value.nbytes
                        for state in opt.state.values()
                        for value in state.values()
                        if torch.is_tensor(value) and value.dim()
                    ),
                }
                with self.subTest(optimizer=optimizer, precision=precision):
                    asked = Job(**{**job.__dict__, "optimizer": optimizer, "precision": precision})
                    assert parameters(asked) == held

    def test_bytes_kept_for_the_way_back(self) -> None:
        """What autograd keeps, each storage once, without the parameters: a lower bound of the peak."""
        for name, (net, x, job) in models().items():
            own = {p.untyped_storage().data_ptr() for p in net.parameters()}
            kept: dict[int, int] = {}

            def keep(tensor: Any, own: set[int] = own, kept: dict[int, int] = kept) -> Any:
                storage = tensor.untyped_storage()
                if storage.data_ptr() not in own:
                    kept[storage.data_ptr()] = storage.nbytes()
                return tensor

            with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
                result = net(x)
            said = activations(job)
            with self.subTest(name):
                assert said.low <= sum(kept.values()) <= said.high, (said, sum(kept.values()))
            del result


if __name__ == "__main__":
    unittest.main()
