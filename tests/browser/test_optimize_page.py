"""The page that `tern optimize --html` writes, in a real browser."""

import pathlib
import shutil
import sys
import time
import unittest

from playwright.sync_api import sync_playwright

import models

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from support import CliTest  # noqa: E402

BERT = ROOT / "tests/data/architectures/bert.dynamo.static/model.onnx"
SHOTS = ROOT / "build/browser"


class PageTest(CliTest):
    """One browser for all tests; a page each, whose errors fail the test."""

    @classmethod
    def setUpClass(cls):
        SHOTS.mkdir(parents=True, exist_ok=True)
        driver = sync_playwright().start()
        cls.addClassCleanup(driver.stop)
        cls.browser = driver.chromium.launch(executable_path=shutil.which("chromium"), headless=True, args=["--no-sandbox"])
        cls.addClassCleanup(cls.browser.close)

    def open(self, model):
        """The page of the model, ready; and what `--json` says of it."""
        html = self.dir / "page.html"
        self.report = self.json("optimize", model, "--html", html, "--json")
        self.page = self.browser.new_page(viewport={"width": 1500, "height": 900})
        self.addCleanup(self.page.close)
        errors, asked = [], []
        self.page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: errors.append(str(error)))
        self.page.on("request", lambda request: asked.append(request.url))
        self.addCleanup(lambda: self.assertEqual(errors, []))
        self.addCleanup(lambda: self.assertEqual(asked, [html.as_uri()], "the page loads something"))
        self.page.goto(html.as_uri())
        self.page.wait_for_selector("body[data-ready='1']", timeout=20_000)
        return self.page

    def keep_picture(self, name):
        path = SHOTS / f"{name}.png"
        path.unlink(missing_ok=True)
        self.page.screenshot(path=path)
        self.assertGreater(path.stat().st_size, 10_000)

    def transform(self, side):
        return self.page.evaluate("s => { const v = sides[s].view; return [v.x, v.y, v.k, sides[s].root.getAttribute('transform')]; }", side)

    def after_frame(self):
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def names(self, selector):
        return self.page.eval_on_selector_all(selector, "all => all.map(e => e.dataset.name)")

    def fills(self):
        return self.page.eval_on_selector_all(".node rect", "all => all.map(e => e.getAttribute('fill'))")

    def details(self):
        rows = self.page.eval_on_selector_all("#detail tr", "all => all.map(r => [...r.cells].map(c => c.textContent))")
        return dict(rows)

    def search(self, text):
        self.page.fill("#search", text)
        return self.page.text_content("#found"), self.page.locator("#results li")


class RealModel(PageTest):
    def setUp(self):
        super().setUp()
        self.open(BERT)

    def test_both_graphs_are_drawn_whole(self):
        self.assertGreater(self.report["nodes_before"], self.report["nodes_after"])
        self.assertEqual(self.page.locator("#side-0 .node").count(), self.report["nodes_before"])
        self.assertEqual(self.page.locator("#side-1 .node").count(), self.report["nodes_after"])
        for side, key in ((0, "nodes_before"), (1, "nodes_after")):
            self.assertIn(f"{self.report[key]} nodes", self.page.text_content(f"#head-{side}"))
            self.assertGreater(self.page.locator(f"#side-{side} .edge").count(), self.report[key] - 5)
        self.assertEqual(self.page.locator("#rules tr").count(), len(self.report["rules"]))
        self.keep_picture("bert")

    def test_no_two_nodes_overlap(self):
        boxes = self.page.evaluate("sides.map(s => s.at.map(p => [p.x, p.y]))")
        for side in boxes:
            rows = {}
            for x, y in side:
                rows.setdefault(y, []).append(x)
            for xs in map(sorted, rows.values()):
                self.assertTrue(all(b - a >= 168 for a, b in zip(xs, xs[1:])), xs)

    def test_equal_values_stand_side_by_side(self):
        wrong = self.page.evaluate("twin[1].filter((j, i) => j >= 0 && sides[0].at[j].y !== sides[1].at[i].y).length")
        self.assertEqual(wrong, 0)
        tall = self.page.evaluate("sides[1].box().h")
        self.page.uncheck("#align")
        self.assertLess(self.page.evaluate("sides[1].box().h"), tall)
        self.assertEqual(self.page.locator("#side-1 .node").count(), self.report["nodes_after"])

    def test_wheel_zooms_about_the_pointer_and_drag_pans(self):
        before = self.transform(0)
        area = self.page.locator("#side-0").bounding_box()
        x, y = area["x"] + 200, area["y"] + 150
        self.page.mouse.move(x, y)
        self.page.mouse.wheel(0, -300)
        self.after_frame()
        near = self.transform(0)
        self.assertGreater(near[2], before[2] * 1.3)
        self.assertNotEqual(near[3], before[3])
        for axis, at in ((0, 200), (1, 150)):  # the point under the pointer stays there
            self.assertAlmostEqual((at - before[axis]) / before[2], (at - near[axis]) / near[2], delta=1)
        self.page.mouse.down()
        self.page.mouse.move(x + 60, y + 40, steps=4)
        self.page.mouse.up()
        self.after_frame()
        panned = self.transform(0)
        self.assertEqual([round(panned[0] - near[0]), round(panned[1] - near[1]), panned[2]], [60, 40, near[2]])
        self.assertEqual(self.transform(1)[1:3], panned[1:3], "aligned sides move together")
        self.assertEqual(self.page.locator(".chosen").count(), 0, "a drag is no click")
        self.page.click("#fit")
        self.after_frame()
        self.assertLess(self.transform(0)[2], before[2])

    def test_search_finds_centres_and_explains_a_node(self):
        found, results = self.search("attention")
        self.assertIn(f"{results.count()} found", found)
        after = [i for i in range(results.count()) if results.nth(i).text_content().startswith("after: Attention")]
        self.assertEqual(len(after), self.report["ops"]["Attention"])
        results.nth(after[0]).click()
        self.after_frame()
        chosen = self.page.locator("#side-1 .chosen")
        self.assertEqual(chosen.count(), 1)
        box, area = chosen.bounding_box(), self.page.locator("#side-1").bounding_box()
        self.assertAlmostEqual(box["x"] + box["width"] / 2, area["x"] + area["width"] / 2, delta=4)
        self.assertAlmostEqual(box["y"] + box["height"] / 2, area["y"] + area["height"] / 2, delta=4)
        details = self.details()
        self.assertEqual(details["op"], "Attention")
        self.assertIn(details["rule"], self.report["rules"])
        self.assertEqual(details["merged"], "true")
        self.assertRegex(details["input 0"], r"f32\[\d+(,\d+)+\]$")
        self.assertRegex(details["output 0"], r"f32\[\d+(,\d+)+\]$")
        self.keep_picture("bert_attention")

    def test_a_search_without_hits_says_so(self):
        found, results = self.search("no such node")
        self.assertEqual((found, results.count(), self.page.locator(".found").count()), ("0 found", 0, 0))

    def test_the_counterpart_is_marked(self):
        _, results = self.search("Attention")
        results.filter(has_text="after: Attention").first.click()
        parts = self.page.eval_on_selector_all("#side-0 .twin", "all => all.map(e => e.querySelector('text').textContent)")
        self.assertIn("Softmax.softmax", parts)
        self.assertGreater(parts.count("MatMul"), 1)
        self.page.click("#detail .link")  # the node before, from the details
        self.assertEqual(self.page.locator("#side-0 .chosen").count(), 1)
        self.assertEqual(self.page.eval_on_selector_all("#side-1 .twin text:first-of-type", "all => all.map(e => e.textContent)"), ["Attention"])

    def test_what_went_and_what_rules_made_is_marked(self):
        gone, made = set(self.names("#side-0 .gone")), self.page.locator("#side-1 .made").count()
        self.assertTrue(gone)
        self.assertTrue(made)
        outputs = self.page.evaluate("data.sides[1].nodes.flatMap(n => n.outputs.map(v => v.name))")
        living = self.page.evaluate("names => data.sides[0].nodes.filter(n => n.outputs.some(v => names.includes(v.name))).map(n => n.name)", outputs)
        self.assertFalse(gone & set(living))
        self.assertEqual(len(gone) + len(living), self.report["nodes_before"])
        self.assertEqual(made, self.page.evaluate("data.sides[1].nodes.filter(n => n.rule).length"))
        self.page.click("#head-0 button")
        self.assertIn(f"{len(gone)} found", self.page.text_content("#found"))

    def test_colours_follow_the_choice(self):
        seen = []
        for mode in ("op", "time", "bytes", "rule"):
            self.page.select_option("#colour", mode)
            self.assertGreater(len(set(self.fills())), 2, mode)
            seen.append(self.fills())
        self.assertEqual(len({tuple(fills) for fills in seen}), 4)

    def test_a_rule_is_searched_by_click(self):
        made = self.page.evaluate("data.sides[1].nodes.map(n => n.rule).filter(r => r)")
        rule = max(set(made), key=made.count)
        self.page.locator("#rules tr").filter(has=self.page.get_by_text(rule, exact=True)).click()
        self.assertEqual(self.page.input_value("#search"), rule)
        self.assertEqual(self.page.text_content("#found"), f"{made.count(rule)} found")

    def test_the_keyboard_searches(self):
        self.page.keyboard.press("/")
        self.page.keyboard.type("layernorm")
        count = int(self.page.text_content("#found").split()[0])
        self.assertGreater(count, 2)
        visited = []
        for k in range(count + 1):
            self.page.keyboard.press("Enter")
            self.assertIn(f"{k % count + 1} of {count}", self.page.text_content("#found"))
            visited += self.page.eval_on_selector_all(".chosen", "all => all.map(e => e.closest('svg').id + e.dataset.index)")
        self.assertEqual(len(set(visited)), count)
        self.assertEqual(visited[0], visited[-1])
        self.page.keyboard.press("Shift+Enter")
        self.assertIn(f"{count} of {count}", self.page.text_content("#found"))
        self.page.keyboard.press("Escape")
        self.assertEqual((self.page.input_value("#search"), self.page.locator(".found").count()), ("", 0))


class OtherModels(PageTest):
    def test_two_thousand_nodes(self):
        path = self.save(models.deep(2000))
        self.open(path)
        ready = self.page.evaluate("performance.now()")
        self.assertEqual(self.report["nodes_before"], 2000)
        self.assertEqual(self.page.locator("#side-0 .node").count(), 2000)
        self.assertEqual(self.page.locator("#side-1 .node").count(), self.report["nodes_after"])
        self.assertLess(ready, 10_000, "milliseconds until the page is ready")
        self.page.mouse.move(300, 300)
        start = time.monotonic()
        scales = set()
        for _ in range(10):
            self.page.mouse.wheel(0, 250)
            self.after_frame()
            scales.add(self.transform(0)[2])
        took = time.monotonic() - start
        self.assertEqual(len(scales), 10)
        self.assertLess(took, 10, "seconds for ten steps of the wheel")
        found, results = self.search("block321/wave")
        self.assertIn("found", found)
        results.first.click()
        self.assertEqual(self.details()["name"], "block321/wave")
        self.keep_picture("two_thousand_nodes")

    def test_names_are_text(self):
        page = self.open(self.save(models.hostile()))
        self.assertEqual(set(self.names("#side-0 .node")), {models.HOSTILE, models.QUOTED, models.FOREIGN, "idle"})
        for name in (models.HOSTILE, models.QUOTED, models.FOREIGN):
            _, results = self.search(name)
            self.assertEqual(results.count(), 2 if name != models.FOREIGN else 4, name)  # both sides; and the graph's output
            results.first.click()
            self.assertEqual(self.details()["name"], name)
            self.assertIn(name, results.first.text_content())
        self.assertIsNone(page.evaluate("window.broken ?? null"))
        self.assertEqual(page.locator("img").count() + page.locator("script").count(), 2)

    def test_nested_graphs_hang_on_their_node(self):
        self.open(self.save(models.nested()))
        self.assertEqual(self.page.locator("#side-0 .node").count(), self.report["nodes_before"])
        self.assertEqual(self.page.locator("#side-1 .edge.body").count(), 2)

    def test_a_graph_of_one_node(self):
        self.open(self.save(models.idle()))
        self.assertEqual(self.page.locator("#side-0 .node").count(), 1)
        self.assertEqual(self.page.locator("#side-1 .node").count(), self.report["nodes_after"])
        self.assertEqual(self.page.locator("#side-1 .port").count(), 2)


if __name__ == "__main__":
    unittest.main()
