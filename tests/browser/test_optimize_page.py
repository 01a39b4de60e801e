"""Tests the page that `tern optimize --html` writes, in a real browser."""

import time
import unittest

import models
from pages import ROOT, PageTest

BERT = ROOT / "tests/data/architectures/bert.dynamo.static/model.onnx"


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
        for axis, at in ((0, 200), (1, 150)):  # the point of the graph under the pointer does not move
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
        self.page.click("#detail tr:has(td:text-matches('^before')) .link")  # the link to the node of the graph before optimization
        self.assertEqual(self.page.locator("#side-0 .chosen").count(), 1)
        self.assertEqual(self.page.eval_on_selector_all("#side-1 .twin text:first-of-type", "all => all.map(e => e.textContent)"), ["Attention"])

    def test_what_went_and_what_rules_made_is_marked(self):
        gone, fused = (set(self.names(f"#side-0 .{state}")) for state in ("gone", "fused"))
        made = self.page.locator("#side-1 .made").count()
        self.assertTrue(gone and fused and made)
        self.assertFalse(gone & fused)
        kept = self.page.evaluate("lists[0].filter((n, i) => !n.port && stateOf(0, i) === '').map(n => n.name)")
        self.assertEqual(len(gone) + len(fused) + len(kept), self.report["nodes_before"])
        left = self.page.evaluate("data.sides[1].nodes.map(n => n.name)")
        self.assertFalse(set(kept) - set(left), "kept nodes are in the graph after optimization")
        self.assertEqual(made, self.page.evaluate("data.sides[1].nodes.filter(n => n.rule).length"))
        for state, names in (("gone", gone), ("fused", fused)):
            self.page.click(f"#head-0 .chip.{state}")
            self.assertIn(f"{len(names)} found", self.page.text_content("#found"))

    def fills(self):
        return self.page.eval_on_selector_all(".node rect", "all => all.map(e => e.getAttribute('fill'))")

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
            # The search finds one node in each of the two graphs. FOREIGN is also the name of the graph's output.
            self.assertEqual(results.count(), 2 if name != models.FOREIGN else 4, name)
            results.first.click()
            self.assertEqual(self.details()["name"], name)
            self.assertIn(name, results.first.text_content())
        self.assertIsNone(page.evaluate("window.broken ?? null"))
        self.assertEqual(page.locator("img").count() + page.locator("script").count(), 2)

    def test_a_graph_of_one_node(self):
        self.open(self.save(models.idle()))
        self.assertEqual(self.page.locator("#side-0 .node").count(), 1)
        self.assertEqual(self.page.locator("#side-1 .node").count(), self.report["nodes_after"])
        self.assertEqual(self.page.locator("#side-1 .port").count(), 2)


if __name__ == "__main__":
    unittest.main()
