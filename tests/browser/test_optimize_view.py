"""Tests that the page of `tern optimize --html` shows entire graphs, nested graphs and the counterparts of nodes, also
on phones and in dark mode."""

import os
import pathlib
import unittest

import models
from pages import DARK, PHONE, PageTest, apart, inside

ZOO_BERT = pathlib.Path(os.environ.get("TERN_ZOO", "")) / "models/onnx/tiny_random_bert_qa_tf.onnx"


class Views(PageTest):
    def readable(self, side):
        """Returns the number of fully visible nodes. Fails if the zoom is so small that the page hides texts."""
        pane, = self.boxes(f"#side-{side}")
        self.assertFalse(self.page.eval_on_selector(f"#side-{side}", "e => e.classList.contains('far')"))
        return sum(inside(box, pane) for box in self.boxes(f"#side-{side} [data-index]"))

    def test_panes_open_on_nodes(self):
        self.open(self.save(models.leaning(150)))
        for side in (0, 1):
            self.assertGreater(self.readable(side), 5)
        self.page.uncheck("#align")
        self.after_frame()
        for side in (0, 1):
            self.assertGreater(self.readable(side), 5)

    @unittest.skipUnless(ZOO_BERT.is_file(), "TERN_ZOO names no folder with the model")
    def test_panes_open_on_nodes_of_a_deep_model(self):
        self.open(ZOO_BERT)
        for side in (0, 1):
            self.assertGreater(self.readable(side), 10)
        self.keep_picture("tf_bert")
        self.page.click("#fit")
        self.assert_fits()

    def assert_fits(self):
        self.after_frame()
        for side in (0, 1):
            pane, = self.boxes(f"#side-{side}")
            drawn, = self.boxes(f"#side-{side} > g")
            self.assertTrue(inside(drawn, pane), (side, drawn, pane))
            self.assertGreater(max((drawn[2] - drawn[0]) / (pane[2] - pane[0]), (drawn[3] - drawn[1]) / (pane[3] - pane[1])), 0.1)

    def test_fit_shows_all(self):
        for name, model in (("leaning", models.leaning(150)), ("deep", models.deep(2000)), ("nested", models.loop_in_branch())):
            with self.subTest(name):
                self.open(self.save(model))
                self.page.click("#fit")
                self.assert_fits()
                self.page.uncheck("#align")
                self.page.click("#fit")
                self.assert_fits()

    def test_zooming_out_reaches_as_far_as_fit(self):
        self.open(self.save(models.deep(2000)))
        self.page.click("#fit")
        self.after_frame()
        whole = self.transform(0)[2]
        self.page.mouse.move(300, 300)
        self.page.mouse.wheel(0, -100)
        self.page.mouse.wheel(0, 5000)
        self.after_frame()
        self.assertAlmostEqual(self.transform(0)[2], whole, delta=whole / 100)

    def test_bodies_have_titled_frames(self):
        self.open(self.save(models.loop_in_branch()))
        self.page.click("#fit")
        self.after_frame()
        for side in (0, 1):
            titles = self.page.eval_on_selector_all(f"#side-{side} .frame text", "all => all.map(e => e.textContent)")
            self.assertEqual(sorted(t.split(" ·")[0] for t in titles), ["If else", "If then", "Loop body"])
            frames = dict(zip((t.split(" ·")[0] for t in titles), self.boxes(f"#side-{side} .frame rect")))
            self.assertTrue(inside(frames["Loop body"], frames["If then"]))
            self.assertTrue(apart(frames["If then"], frames["If else"]))
            nodes = self.page.eval_on_selector_all(f"#side-{side} [data-index]", f"all => all.map(e => [e.dataset.name, lists[{side}][e.dataset.index].body])")
            roles = self.page.evaluate(f"data.sides[{side}].bodies.map(b => data.sides[{side}].nodes[b.owner].op + ' ' + b.role)")
            nests = {"Loop body": {"Loop body", "If then"}, "If then": {"If then"}, "If else": {"If else"}}
            for (name, body), box in zip(nodes, self.boxes(f"#side-{side} [data-index] rect")):
                around = nests[roles[body]] if body >= 0 else set()
                for title, frame in frames.items():
                    self.assertTrue(inside(box, frame) if title in around else apart(box, frame), (name, title))
            self.assertEqual(self.page.locator(f"#side-{side} .edge.captured").count(), 2)  # the If captures x and count
        self.keep_picture("nested")

    def test_a_captured_value_leads_to_its_node(self):
        self.open(self.save(models.loop_in_branch()))
        _, results = self.search("captured x")
        self.assertEqual(results.count(), 0)  # a search compares the text with the name and with the op, but not with both joined
        _, results = self.search("captured")
        results.filter(has_text="before: captured x").first.click()
        self.page.click("#detail tr:has(td:text-is('captured')) .link")
        self.assertIn(self.details()["op"], ("input", "captured"))
        self.assertEqual(self.details()["name"], "x")

    def test_fused_nodes_are_not_gone(self):
        self.open(self.save(models.clipped()))
        self.assertEqual(set(self.names("#side-0 .fused")), {"conv", "clip"})
        self.assertEqual(set(self.names("#side-0 .gone")), {"idle", "wave again", "shape", "view"})
        self.assertEqual([chip.strip() for chip in self.page.locator("#head-0 .chip").all_text_contents()], ["2 fused", "4 removed"])
        self.page.click("#side-0 [data-name='conv']")
        self.assertRegex(self.details()["after"], r"^fused into Conv ")
        self.assertEqual(self.page.eval_on_selector_all("#side-1 .twin text:first-of-type", "all => all.map(e => e.textContent)"), ["Conv"])
        for name, reason in (("idle", "returns its input unchanged"), ("shape", "shapes and constants"), ("wave again", "the same as Unary.sin wave")):
            self.page.click(f"#side-0 [data-name='{name}']")
            self.assertIn(reason, self.details()["after"])
            self.assertEqual(self.page.locator("#side-1 .twin").count(), 0)
        self.page.click("#side-1 .made")
        self.assertEqual(set(self.names("#side-0 .twin")), {"conv", "clip"})
        self.keep_picture("fused")

    def test_several_nodes_become_one(self):
        self.open(self.save(models.slices()))
        self.assertEqual(set(self.names("#side-0 .fused")), {"slice0", "slice1", "slice2"})
        self.assertEqual(self.page.locator("#side-0 .gone").count(), 0)
        self.page.click("#side-0 [data-name='slice1']")
        self.assertRegex(self.details()["after"], r"^fused into Split ")


class Keyboard(PageTest):
    def test_a_pane_is_walked_by_keys(self):
        self.open(self.save(models.clipped()))
        self.page.focus("#side-0")
        before = self.transform(0)
        self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("+")
        self.after_frame()
        after = self.transform(0)
        self.assertLess(after[1], before[1])
        self.assertGreater(after[2], before[2])
        self.page.keyboard.press("n")
        self.page.keyboard.press("n")
        self.assertEqual(self.names("#side-0 .chosen"), ["conv"])
        self.page.keyboard.press("p")
        self.assertEqual(self.names("#side-0 .chosen"), ["idle"])
        self.page.keyboard.press("0")
        self.after_frame()
        self.assertAlmostEqual(self.transform(0)[2], self.page.evaluate("wholeScale(sides[0])"), delta=1e-6)

    def test_all_controls_take_the_focus(self):
        self.open(self.save(models.clipped()))
        self.page.click("#side-0 [data-name='conv']")
        reached = set()
        for _ in range(40):
            self.page.keyboard.press("Tab")
            reached.add(self.page.evaluate("document.activeElement.id || document.activeElement.className"))
        self.assertLessEqual({"colour", "align", "fit", "search", "side-0", "side-1", "link", "chip fused", "chip gone"}, reached)


class Dark(PageTest):
    def test_night_colours(self):
        page = self.open(self.save(models.loop_in_branch()), DARK)
        shades = page.evaluate("""['body', 'header', 'aside'].map(tag => {
          const style = getComputedStyle(document.querySelector(tag)), light = text => text.match(/\\d+/g).slice(0, 3).reduce((sum, v) => sum + Number(v), 0) / 3;
          return [light(style.backgroundColor), light(style.color)]; })""")
        for back, ink in shades:
            self.assertLess(back, 60)
            self.assertGreater(ink, 180)
        fills = page.eval_on_selector_all(".node rect", "all => all.map(e => getComputedStyle(e).fill.match(/\\d+/g).slice(0, 3).map(Number))")
        self.assertLess(max(sum(fill) / 3 for fill in fills), 120)
        self.keep_picture("night")


class Phone(PageTest):
    def touch(self, kind, *points):
        self.session = getattr(self, "session", None) or self.page.context.new_cdp_session(self.page)
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]})

    def test_one_pane_at_a_time_without_sideways_scroll(self):
        self.open(self.save(models.clipped()), PHONE)
        self.assert_no_page_scroll()
        self.assertTrue(self.page.is_visible("#side-0"))
        self.assertFalse(self.page.is_visible("#side-1"))
        wide = self.boxes("#side-0")[0]
        self.assertGreater(wide[2] - wide[0], 380)
        self.assertGreater(wide[3] - wide[1], 400, "the graph has most of the screen")
        self.keep_picture("phone")
        self.page.tap("#tab-1")
        self.assertFalse(self.page.is_visible("#side-0"))
        self.assertTrue(self.page.is_visible("#side-1"))
        self.assertEqual(self.page.get_attribute("#tab-1", "aria-pressed"), "true")
        for box in self.boxes("header button, header select, #search"):
            self.assertGreaterEqual(box[3] - box[1], 34, "large enough for a finger")
            self.assertLessEqual(box[2], 390)

    def test_a_tap_shows_a_node(self):
        self.open(self.save(models.clipped()), PHONE)
        self.assertFalse(self.page.is_visible("#panel"))
        self.page.tap("#side-0 [data-name='sum']")
        self.after_frame()
        self.assertTrue(self.page.is_visible("#detail"))
        self.assertEqual(self.details()["name"], "sum")
        pane, chosen = self.boxes("#side-0")[0], self.boxes("#side-0 .chosen")[0]
        self.assertTrue(chosen[1] < pane[3] and chosen[3] > pane[1], "the node stays in view")
        self.assert_no_page_scroll()
        self.keep_picture("phone_node")
        self.page.tap("#detail tr:has(td:text-is('after')) .link")
        self.assertTrue(self.page.is_visible("#side-1"))
        self.page.tap("#more")
        self.assertFalse(self.page.is_visible("#panel"))

    def test_fingers_pan_and_pinch(self):
        self.open(self.save(models.clipped()), PHONE)
        left, top, *_ = self.boxes("#side-0")[0]
        start = self.transform(0)
        self.touch("touchStart", (200, top + 200))
        for step in range(1, 6):
            self.touch("touchMove", (200 - 8 * step, top + 200 + 6 * step))
        self.touch("touchEnd")
        self.after_frame()
        panned = self.transform(0)
        self.assertEqual([round(panned[0] - start[0]), round(panned[1] - start[1]), panned[2]], [-40, 30, start[2]])
        self.touch("touchStart", (160, top + 300), (240, top + 300))
        for step in range(1, 9):
            self.touch("touchMove", (160 - 10 * step, top + 300), (240 + 10 * step, top + 300))
        self.touch("touchEnd")
        self.after_frame()
        pinched = self.transform(0)
        self.assertAlmostEqual(pinched[2] / panned[2], 3, delta=0.05)
        for axis, at in ((0, 200 - left), (1, 300)):  # the point of the graph between the fingers does not move
            self.assertAlmostEqual((at - panned[axis]) / panned[2], (at - pinched[axis]) / pinched[2], delta=2)
        self.assertEqual(self.page.locator(".chosen").count(), 0, "a pinch is no tap")
        self.assertEqual(self.page.evaluate("[window.visualViewport.scale, window.scrollY]"), [1, 0], "the page itself stays")


if __name__ == "__main__":
    unittest.main()
