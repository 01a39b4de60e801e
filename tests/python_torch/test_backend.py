"""torch.compile(backend="tern") on small modules."""

import unittest
import warnings

import torch
from torch import nn

import tern
import tern.torch


def compiled(function, **options):
    return torch.compile(function, backend="tern", options={"fallback": False, **options})


class Case(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()

    def check(self, function, *args, run=None, **tolerance):
        """Compares `run`, by default the compiled function, with eager."""
        run = compiled(function) if run is None else run
        with torch.no_grad():
            torch.testing.assert_close(run(*args), function(*args), **tolerance)
        return run

    def graphs(self):
        return torch._dynamo.utils.counters["stats"]["unique_graphs"]


class Results(Case):
    def test_several_results_and_none(self):
        self.check(lambda x, i: (x.relu(), None, {"i": i + 1, "s": [x.sum(), 3]}), torch.randn(3, 4), torch.arange(3))

    def test_an_argument_is_a_result(self):
        def function(x):
            return x, x * 2, x
        x = torch.randn(3)
        self.assertIs(self.check(function, x)(x)[0], x)

    def test_a_view_of_an_argument_shares_its_memory(self):
        x = torch.randn(3, 4)
        run = self.check(lambda x: (x.t(), x[1:] + 1), x)
        self.assertEqual(run(x)[0].data_ptr(), x.data_ptr())

    def test_one_value_twice(self):
        def function(x):
            y = x * 2
            return y, y, y.t()
        self.check(function, torch.randn(3, 4))

    def test_the_constant_that_a_graph_holds(self):
        table = torch.tensor([2.0, 3.0])
        self.check(lambda x: x * table + torch.tensor([1.0, 5.0]), torch.randn(3, 2))

    def test_types(self):
        for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int8, torch.uint8, torch.bool):
            with self.subTest(dtype):
                x = torch.randint(0, 2, (3, 5)).to(dtype)
                self.check(lambda x: (torch.cat([x, x], 1), x.t().contiguous()), x)
                torch._dynamo.reset()

    def test_mixed_types(self):
        self.check(lambda i, x, b: (i * x, b * i, i / 2, x.double() + i, torch.where(b, i, x)),
                   torch.arange(4), torch.randn(4), torch.tensor([True, False, True, True]))

    def test_half_precision_weights(self):
        for dtype in (torch.bfloat16, torch.float16):
            with self.subTest(dtype):
                self.check(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.LayerNorm(8)).eval().to(dtype), torch.randn(3, 8, dtype=dtype),
                           atol=0.05, rtol=0.05)

    def test_arguments_with_other_strides(self):
        run = self.check(lambda x: x * 2 + 1, torch.randn(4, 6).t())
        for x in (torch.randn(1, 6).expand(4, 6), torch.randn(8, 12)[::2, ::2], torch.randn(4, 6, requires_grad=True)):
            self.check(lambda x: x * 2 + 1, x, run=run)
        self.check(nn.Conv2d(3, 4, 3).eval(), torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last))

    def test_empty_tensors(self):
        self.check(lambda x: (x.sum(), torch.cat([x, x])), torch.zeros(0, 3))

    def test_results_keep_their_memory(self):
        run = compiled(lambda x: x * 2)
        x = torch.randn(200, 200)
        with torch.no_grad():
            first, second = run(x), run(x + 1)
        torch.testing.assert_close(first, x * 2)
        torch.testing.assert_close(second, (x + 1) * 2)


class Writes(Case):
    def test_in_place_ops(self):
        def function(x):
            y = x + 1
            y.mul_(2)[0].zero_()
            y[:, 1] = 7
            return y
        self.check(function, torch.randn(3, 4))

    def test_a_written_argument(self):
        def function(x):
            x.add_(1)
            return x * 2
        x = torch.randn(3)
        expected = x.clone()
        with torch.no_grad():
            torch.testing.assert_close(compiled(function)(x), function(expected))
        torch.testing.assert_close(x, expected)

    def test_buffers_that_the_graph_writes(self):
        model, other = nn.BatchNorm1d(4), nn.BatchNorm1d(4)  # both in training mode
        run = compiled(model)
        for _ in range(3):
            x = torch.randn(8, 4)
            with torch.no_grad():
                torch.testing.assert_close(run(x), other(x))
            torch.testing.assert_close(model.state_dict(), other.state_dict())
        self.assertEqual(self.graphs(), 1)


class Weights(Case):
    def test_changed_weights(self):
        model, x = nn.Linear(4, 4), torch.randn(2, 4)
        run = self.check(model, x)
        with torch.no_grad():
            model.weight.mul_(2)
        self.check(model, x, run=run)
        model.load_state_dict(nn.Linear(4, 4).state_dict())
        self.check(model, x, run=run)
        model.weight.data = torch.randn(4, 4)
        self.check(model, x, run=run)
        model.bias = nn.Parameter(torch.randn(4))
        self.check(model, x, run=run)

    def test_one_graph_for_several_modules(self):
        run = torch.compile(lambda layer, x: layer(x), backend="tern", options={"fallback": False})
        layers, x = [nn.Linear(4, 4) for _ in range(3)], torch.randn(2, 4)
        for layer in layers * 2:
            with torch.no_grad():
                torch.testing.assert_close(run(layer, x), layer(x))

    def replace(self, name, value):
        """Replaces a name of the module `runner` until the test ends."""
        self.addCleanup(setattr, tern.torch.runner, name, getattr(tern.torch.runner, name))
        setattr(tern.torch.runner, name, value)

    def loads(self):
        """Returns a list that gets one element whenever a model is loaded."""
        loads, original = [], tern.torch.runner.load
        self.replace("load", lambda *args, **options: loads.append(1) or original(*args, **options))
        return loads

    def test_the_least_recently_used_weights_are_dropped(self):
        loads = self.loads()
        self.replace("MAX_VARIANTS", 2)
        run = torch.compile(lambda layer, x: layer(x), backend="tern", options={"fallback": False})
        first, second, third = (nn.Linear(4, 4) for _ in range(3))
        x, counts = torch.randn(2, 4), []
        for layer in (first, second, first, third, first, second):
            with torch.no_grad():
                torch.testing.assert_close(run(layer, x), layer(x))
            counts.append(len(loads))
        self.assertEqual(counts, [1, 2, 2, 3, 3, 4])

    def test_nan_in_weights_made_in_inference_mode(self):
        loads = self.loads()
        for dtype in (torch.float32, torch.bfloat16):
            with torch.inference_mode():
                model, x = nn.Linear(2, 2, bias=False).to(dtype), torch.ones(1, 2, dtype=dtype)
                model.weight.copy_(torch.tensor([[float("nan"), 1], [0, 0]]))
                run = compiled(model)
                for _ in range(3):
                    torch.testing.assert_close(run(x), model(x), equal_nan=True)
            self.assertEqual(len(loads), 1)
            loads.clear()
            torch._dynamo.reset()

    def test_weights_are_loaded_once(self):
        loads = self.loads()
        model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
        model[1].weight = model[0].weight  # shared
        run = compiled(model)
        for _ in range(3):
            self.check(model, torch.randn(2, 4), run=run)
        self.assertEqual(len(loads), 1)


class Shapes(Case):
    def test_automatic_dynamic_shapes(self):
        model = nn.Sequential(nn.Conv1d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(4, 2)).eval()
        run = compiled(model)
        for batch, length in ((2, 8), (3, 8), (4, 9), (5, 21), (7, 40)):
            self.check(model, torch.randn(batch, 3, length), run=run)
        self.assertLessEqual(self.graphs(), 3)

    def test_mark_dynamic(self):
        def function(x, y):
            return x.reshape(x.shape[0] * x.shape[1], -1) @ y, x.shape[0] * 2, torch.arange(x.shape[1])
        run = compiled(function)
        for batch in (2, 5, 9):
            x = torch.randn(batch, 3, 4)
            torch._dynamo.mark_dynamic(x, 0)
            self.check(function, x, torch.randn(4, 2), run=run)
        self.assertEqual(self.graphs(), 1)

    def test_numbers_as_arguments(self):
        def function(x, n, f, flag):
            return x * n + f, x[:n], x.repeat(n) if flag else x
        run = compiled(function)
        for n, f, flag in ((2, 0.5, True), (3, 1.5, True), (4, 2.25, False)):
            self.check(function, torch.randn(6), n, f, flag, run=run)

    def test_graph_breaks(self):
        def function(x):
            y = x * 2
            torch._dynamo.graph_break()
            if y.sum() > 0:
                return y.relu()
            return y - 1
        run = compiled(function)
        self.check(function, torch.ones(3), run=run)
        self.check(function, -torch.ones(3), run=run)
        self.assertGreaterEqual(self.graphs(), 3)


class Fallbacks(Case):
    def runs_eagerly(self, function, *args, text):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = torch.compile(function, backend="tern")(*args)
        texts = [str(w.message) for w in caught if w.category is tern.torch.TernWarning]
        self.assertEqual(len(texts), 1, texts)
        self.assertIn(text, texts[0])
        torch._dynamo.reset()
        with self.assertRaisesRegex(Exception, text):
            compiled(function)(*args)
        return result

    def test_gradients(self):
        model, x = nn.Linear(4, 4), torch.randn(2, 4)
        self.runs_eagerly(model, x, text="gradients are required").sum().backward()
        torch.testing.assert_close(model.weight.grad, x.sum(0).expand(4, 4))

    def test_operators_without_translation(self):
        def function(x):
            return torch.linalg.eigvalsh(x), torch.special.bessel_j0(x)
        x = torch.eye(3)
        torch.testing.assert_close(self.runs_eagerly(function, x, text="bessel_j0")[0], torch.ones(3))

    def test_random_numbers(self):
        with torch.no_grad():
            self.runs_eagerly(nn.Dropout(0.5), torch.ones(100), text="random numbers")

    def test_complex_numbers(self):
        x = torch.randn(8)
        torch.testing.assert_close(self.runs_eagerly(lambda x: torch.fft.rfft(x).abs(), x, text="complex"), torch.fft.rfft(x).abs())

    def test_bad_options(self):
        for options, text in (({"thread": 1}, "there is no option 'thread'"), ({"precision": "fp7"}, "fp7")):
            with self.assertRaisesRegex(Exception, text):
                torch.compile(torch.relu, backend="tern", options=options)(torch.ones(2))
            torch._dynamo.reset()
        with self.assertRaisesRegex(Exception, "has no argument 'mode'"):
            torch.compile(torch.relu, backend="tern", mode="reduce-overhead")(torch.ones(2))

    def test_options_reach_tern(self):
        model, x = nn.Linear(64, 64), torch.randn(8, 64)
        run = self.check(model, x, run=compiled(model, threads=1, precision="bf16"), atol=0.05, rtol=0.05)
        with torch.no_grad():
            self.assertGreater((run(x) - model(x)).abs().max(), 1e-4)

    def test_only_low_precision_may_differ_much(self):
        """The errors of "fast" are those of other f32 algorithms."""
        expected = [torch.linspace(-1, 1, 100)]
        results = [expected[0] * 1.05]
        for precision in ("bf16", "auto"):
            tern.torch.runner.verify(results, expected, precision)
        tern.torch.runner.verify([results[0].bfloat16()], [expected[0].bfloat16()], "fp32")
        for precision in ("fp32", "fast"):
            tern.torch.runner.verify([expected[0] * 1.001], expected, precision)
            with self.assertRaisesRegex(tern.InternalError, "result 0 differs from torch's by"):
                tern.torch.runner.verify(results, expected, precision)

    def test_the_fast_precision_passes_the_comparison(self):
        model = nn.Sequential(*[layer for _ in range(4) for layer in (nn.Conv2d(32, 32, 3, padding=1), nn.ReLU())]).eval()
        self.check(model, torch.randn(1, 32, 40, 40), run=compiled(model, precision="fast"), atol=1e-3, rtol=1e-3)


class Memory(unittest.TestCase):
    def test_results_that_share_memory_are_left_to_torch(self):
        def views(x):
            y = x + 1
            return y, y.t(), y[0]
        with torch.no_grad(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            y, transposed, row = torch.compile(views, backend="tern")(torch.zeros(3, 2))
        self.assertIn("shares its memory", " ".join(str(warning.message) for warning in caught))
        y.fill_(9)
        self.assertEqual((transposed[0, 0].item(), row[0].item()), (9, 9))

    def test_weights_made_in_inference_mode_may_change(self):
        with torch.inference_mode():
            model = nn.Linear(1, 1, bias=False)
            run, seen = torch.compile(model, backend="tern"), []
            for value in (1.0, 2.0, 3.0):
                model.weight.fill_(value)
                seen.append(run(torch.ones(1, 1)).item())
        self.assertEqual(seen, [1.0, 2.0, 3.0])


if __name__ == "__main__":
    unittest.main()
