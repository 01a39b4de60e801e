"""Tests the page that `tern profile --html` writes, in a real browser."""

import unittest

import models
from pages import DARK, DESKTOP, PHONE, PageTest


class ProfileTest(PageTest):
    def profile(self, model, screen=DESKTOP, options=()):
        html = self.dir / "profile.html"
        self.report = self.json("profile", model, "--runs", "2", "--threads", "1", "--html", html, "--json", *options)
        for node in self.report["nodes"]:
            node["op"] = f"{node['op']} + {node['next_op']}" if "next_op" in node else node["op"]
        return self.show(html, screen)

    def column(self, table, title):
        """Returns the texts of a column, without the total in the last row."""
        return self.page.evaluate("""([table, title]) => {
          const t = document.getElementById(table), k = [...t.tHead.rows[0].cells].findIndex(c => c.textContent === title);
          return [...t.tBodies[0].rows].map(r => r.cells[k].textContent); }""", [table, title])

    def heading(self, table, title):
        return self.page.locator(f"#{table} th").filter(has=self.page.get_by_role("button", name=title, exact=True))

    def sort(self, table, title):
        self.heading(table, title).locator("button").click()
        return self.heading(table, title).get_attribute("aria-sort")


class Tables(ProfileTest):
    def setUp(self):
        super().setUp()
        self.profile(self.save(models.deep(40)), options=("--dim", "N=4096"))

    def test_every_step_has_its_row(self):
        nodes = self.report["nodes"]
        self.assertEqual(self.column("nodes", "node"), [n["name"] for n in nodes])
        self.assertEqual(self.column("nodes", "ms"), [f"{n['ms']:.4f}" for n in nodes])
        self.assertEqual(self.page.locator("circle").count(), sum(n["flops"] > 0 for n in nodes))
        self.assertIn("A run takes ", self.page.text_content("header p"))
        self.keep_picture("profile")

    def test_headings_sort(self):
        self.assertEqual(self.heading("nodes", "ms").get_attribute("aria-sort"), "descending", "slowest first")
        for title, number in (("node", False), ("op", False), ("kernel", False), ("%", True), ("ms", True), ("GFLOP/s", True), ("% of roof", True)):
            with self.subTest(title):
                first = self.sort("nodes", title)
                self.assertEqual(first, "descending" if number else "ascending")
                cells = self.column("nodes", title)
                self.assertEqual(len(cells), len(self.report["nodes"]))
                if number:
                    values = [float(cell) for cell in cells]
                    self.assertEqual(values, sorted(values, reverse=True))
                self.assertEqual(self.sort("nodes", title), "ascending" if number else "descending")
                self.assertEqual(self.column("nodes", title)[0], cells[-1])
                self.assertEqual(self.page.locator("#nodes th:not([aria-sort=none])").count(), 1)

    def test_the_keyboard_sorts_and_filters(self):
        self.heading("nodes", "node").locator("button").focus()
        self.page.keyboard.press("Enter")
        names = self.column("nodes", "node")
        self.assertEqual(self.heading("nodes", "node").get_attribute("aria-sort"), "ascending")
        self.assertEqual(names[0], "block0/gate")
        self.page.keyboard.press("/")
        self.page.keyboard.type("project")
        shown = self.column("nodes", "node")
        self.assertTrue(shown and all("project" in name for name in shown))
        self.page.keyboard.press("Escape")
        self.assertEqual(self.column("nodes", "node"), names)

    def test_the_filter_holds_for_rows_totals_and_dots(self):
        self.page.fill("#filter", "BLOCK3 project")
        found = [n for n in self.report["nodes"] if "block3" in n["name"] and "project" in n["name"]]
        self.assertEqual(len(found), 1)
        self.assertEqual(self.column("nodes", "node"), [n["name"] for n in found])
        self.assertEqual(self.column("ops", "op"), [found[0]["op"]])
        self.assertEqual(self.column("kernels", "kernel"), [found[0]["kernel"]])
        self.assertRegex(self.page.text_content("#shown"), rf"^1 of {len(self.report['nodes'])} steps")
        self.assertEqual(self.page.locator("circle:not(.out)").count(), 1)
        self.page.fill("#filter", "no such step")
        self.assertEqual(self.column("nodes", "node"), [])
        self.page.click("#clear")
        self.assertEqual(len(self.column("nodes", "node")), len(self.report["nodes"]))
        self.assertFalse(self.page.is_visible("#clear"))

    def test_totals_add_up(self):
        for table, key in (("ops", "op"), ("kernels", "kernel")):
            sums = {}
            for n in self.report["nodes"]:
                count, ms = sums.get(n[key], (0, 0))
                sums[n[key]] = count + 1, ms + n["ms"]
            self.assertGreater(len(sums), 1)
            titles = self.column(table, key)
            self.assertEqual(set(titles), set(sums))
            shares = [float(text) for text in self.column(table, "%")]
            for title, steps, ms, share in zip(titles, self.column(table, "steps"), self.column(table, "ms"), shares):
                self.assertEqual(int(steps), sums[title][0])
                self.assertAlmostEqual(float(ms), sums[title][1], delta=0.0001)
                self.assertAlmostEqual(share, 100 * sums[title][1] / self.report["ms"], delta=0.1)
            self.assertAlmostEqual(sum(shares), 100, delta=1)
            self.assertEqual(shares, sorted(shares, reverse=True))
            total = self.page.eval_on_selector_all(f"#{table} tfoot td", "all => all.map(e => e.textContent)")
            self.assertEqual(total[:2], ["all", str(len(self.report["nodes"]))])
            self.assertAlmostEqual(float(total[2]), self.report["ms"], delta=0.0001)

    def test_an_op_is_picked(self):
        self.page.click("#ops .pick:text-is('MatMul')")
        self.assertEqual(set(self.column("nodes", "op")), {"MatMul"})
        self.assertEqual(len(self.column("ops", "op")), len({n["op"] for n in self.report["nodes"]}), "all ops are still listed")
        self.assertEqual(set(self.column("kernels", "kernel")), {n["kernel"] for n in self.report["nodes"] if n["op"] == "MatMul"})
        self.assertEqual(self.page.get_attribute("#ops .pick:text-is('MatMul')", "aria-pressed"), "true")
        self.page.click("#ops .pick:text-is('MatMul')")
        self.assertEqual(len(self.column("nodes", "op")), len(self.report["nodes"]))

    def test_a_dot_leads_to_its_step(self):
        dot = self.page.locator("circle").last
        dot.dispatch_event("click")
        row = self.page.locator("#nodes tr.at")
        self.assertEqual(row.get_attribute("data-index"), dot.get_attribute("data-index"))
        self.assertTrue(row.is_visible())


class Screens(ProfileTest):
    def test_names_are_text(self):
        page = self.profile(self.save(models.hostile()))
        self.assertLessEqual({models.HOSTILE, models.QUOTED, models.FOREIGN}, set(self.column("nodes", "node")))
        self.assertIsNone(page.evaluate("window.broken ?? null"))
        self.assertEqual(page.locator("img").count() + page.locator("script").count(), 2)

    def test_a_phone_scrolls_no_page_sideways(self):
        self.profile(self.save(models.deep(40)), PHONE)
        self.assert_no_page_scroll()
        for selector in ("#filter", "#ops th:nth-child(4)", "#nodes th:nth-child(4)"):  # columns 1 to 4 are visible
            for box in self.boxes(selector):
                self.assertLessEqual(box[2], 390, selector)
        self.keep_picture("profile_phone")

    def test_night_colours(self):
        page = self.profile(self.save(models.deep(40)), DARK)
        back, ink = page.evaluate("['backgroundColor', 'color'].map(k => getComputedStyle(document.body)[k].match(/\\d+/g).map(Number))")
        self.assertLess(max(back[:3]), 60)
        self.assertGreater(min(ink[:3]), 180)
        self.keep_picture("profile_night")


if __name__ == "__main__":
    unittest.main()
