"""Threads, time limits, cancellation, async calls, states."""

import asyncio
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import support
import tern
from support import add, one_op, ones

GO = np.array(True)


class Threads(unittest.TestCase):
    def check_concurrent_calls(self, p):
        wrong = []

        def work(k):
            for i in range(60):
                x = np.full((1 + (i + k) % 4, 4), k * 1000 + i, np.float32)
                y = p(x, x)["sum"]
                if y.shape != x.shape or not (y == 2 * x).all():
                    wrong.append((k, i))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        self.assertEqual(wrong, [])

    def test_one_predictor_in_many_threads(self):
        self.check_concurrent_calls(tern.load(add(), threads=1))
        self.check_concurrent_calls(tern.load(add(), threads=2, parallel=3))
        self.check_concurrent_calls(tern.load(add(), threads=1, parallel=1))

    def test_the_gil_is_released(self):
        p = tern.load(support.endless(), parallel=2)
        cancel = tern.Cancel()
        ticks = []

        def tick():
            for _ in range(5):
                time.sleep(0.01)
                ticks.append(1)
            cancel.set()

        thread = threading.Thread(target=tick)
        thread.start()
        with self.assertRaises(tern.Cancelled):
            p.run({"go": GO, "x": ones(1, 4)}, cancel=cancel)
        thread.join()
        self.assertEqual(len(ticks), 5)

    def test_overridable_constants_in_threads(self):
        bias = support.helper.make_tensor("b", support.FLOAT, [4], [1, 1, 1, 1])
        p = tern.load(support.model([support.node("Add", "x b", "y")], [support.value("x"), support.value("b", shape=[4])],
                                    [support.value("y")], [bias]))

        def work(k):
            fed = {"b": np.full(4, k, np.float32)} if k % 2 else {}
            return all((p(x=ones(1, 4), **fed)["y"] == 1 + (k if fed else 1)).all() for _ in range(30))

        with ThreadPoolExecutor(6) as pool:
            self.assertTrue(all(pool.map(work, range(6))))


class Limits(unittest.TestCase):
    def setUp(self):
        self.p = tern.load(support.endless(), parallel=1)
        self.feeds = {"go": GO, "x": ones(1, 4)}

    def test_timeout(self):
        started = time.monotonic()
        with self.assertRaisesRegex(tern.Cancelled, "deadline") as caught:
            self.p.run(self.feeds, timeout=0.05, tag="request 7")
        self.assertLess(time.monotonic() - started, 5)
        self.assertIn("request 7", str(caught.exception))
        self.assertIsInstance(caught.exception, TimeoutError)

    def test_bad_timeout(self):
        for bad in (-1, float("nan")):
            with self.assertRaisesRegex(tern.InvalidArgument, "timeout"):
                self.p.run(self.feeds, timeout=bad)
        with self.assertRaises(tern.Cancelled):
            self.p.run(self.feeds, timeout=1e-9)

    def test_cancel_before_the_run(self):
        cancel = tern.Cancel()
        cancel.set()
        self.assertTrue(cancel.is_set())
        with self.assertRaisesRegex(tern.Cancelled, "cancelled"):
            self.p.run(self.feeds, cancel=cancel)
        cancel.clear()
        self.assertFalse(cancel.is_set())

    def test_waiting_for_a_session_counts(self):
        cancel = tern.Cancel()

        def occupy():
            with self.assertRaises(tern.Cancelled):
                self.p.run(self.feeds, cancel=cancel)

        thread = threading.Thread(target=occupy)
        thread.start()
        time.sleep(0.05)
        with self.assertRaises(tern.Cancelled):
            self.p.run(self.feeds, timeout=0.05)
        cancel.set()
        thread.join()


class Async(unittest.TestCase):
    def test_gather(self):
        p = tern.load(add())

        async def main():
            return await asyncio.gather(*(p.predict_async({"a": ones(1, 4) * i, "b": ones(1, 4)}) for i in range(10)))

        for i, outputs in enumerate(asyncio.run(main())):
            self.assertTrue((outputs["sum"] == i + 1).all())

    def test_names(self):
        p = tern.load(add())
        outputs = asyncio.run(p.predict_async(a=ones(1, 4), b=ones(1, 4)))
        self.assertTrue((outputs["sum"] == 2).all())

    def test_a_cancelled_task_ends_its_run(self):
        p = tern.load(support.endless(), parallel=1)

        async def main():
            task = asyncio.create_task(p.predict_async({"go": GO, "x": ones(1, 4)}))
            await asyncio.sleep(0.05)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            with self.assertRaises(tern.Cancelled):  # the only session is free again
                await p.predict_async({"go": GO, "x": ones(1, 4)}, timeout=0.05)

        asyncio.run(main())


class States(unittest.TestCase):
    def setUp(self):
        self.p = tern.load(support.running_sum(), states="past=total")

    def test_values_persist(self):
        self.assertEqual(self.p.states()[0][:2], ("past", "total"))
        self.assertEqual([info.name for info in self.p.inputs()], ["x"])
        for i in range(1, 4):
            self.assertTrue((self.p(ones(1, 4))["seen"] == i).all())
        np.testing.assert_array_equal(self.p.get_state("past"), ones(1, 4) * 3)
        self.p.set_state("past", ones(1, 4) * 10)
        self.assertTrue((self.p(ones(1, 4))["seen"] == 11).all())
        self.p.reset_states()
        self.assertTrue((self.p(ones(1, 4))["seen"] == 1).all())
        self.assertEqual(self.p.state_length(), 0)

    def test_clone_has_its_own(self):
        self.p(ones(1, 4))
        self.assertTrue((self.p.clone()(ones(1, 4))["seen"] == 1).all())

    def test_unknown_state(self):
        with self.assertRaises(tern.NotFound):
            self.p.get_state("other")
        with self.assertRaises(tern.NotFound):
            self.p.set_state("other", ones(1, 4))

    def test_threads_take_turns(self):
        with ThreadPoolExecutor(4) as pool:
            seen = sorted(pool.map(lambda _: float(self.p(ones(1, 4))["seen"][0, 0]), range(40)))
        self.assertEqual(seen, list(range(1, 41)))


class Misuse(unittest.TestCase):
    def test_an_array_that_changes_size_is_locked_during_a_run(self):
        p = tern.load(one_op("Neg"))
        data = bytearray(16)
        view = np.frombuffer(data, np.float32).reshape(1, 4)
        p(view)
        del view
        data.append(1)  # no buffer is held after the run


if __name__ == "__main__":
    unittest.main()
