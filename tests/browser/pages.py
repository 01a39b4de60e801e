"""Common code of the page tests: starts a browser, checks that pages have no errors, and takes screenshots."""

import atexit
import functools
import pathlib
import shutil
import sys

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from support import CliTest  # noqa: E402

SHOTS = ROOT / "build/browser"
PATIENCE = 120_000  # the time limit of browser operations in ms; it is long because the machine may be busy
DESKTOP = {"viewport": {"width": 1500, "height": 900}}
DARK = {**DESKTOP, "color_scheme": "dark"}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


@functools.cache
def browser():
    """Returns the browser that all tests share, because starting a browser takes longer than most tests."""
    driver = sync_playwright().start()
    atexit.register(driver.stop)
    started = driver.chromium.launch(executable_path=shutil.which("chromium"), headless=True, timeout=PATIENCE,
                                     args=["--no-sandbox", "--disable-gpu", "--disable-extensions"])
    atexit.register(started.close)
    return started


class PageTest(CliTest):
    """Opens a page per test. Script errors and network requests fail the test."""

    @classmethod
    def setUpClass(cls):
        SHOTS.mkdir(parents=True, exist_ok=True)

    def show(self, html, screen):
        """Opens the file in a browser with the given screen, waits until the page is ready, and returns the page."""
        context = browser().new_context(**screen)
        self.addCleanup(context.close)
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        errors, asked = [], []
        self.page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: errors.append(str(error)))
        self.page.on("request", lambda request: asked.append(request.url))
        self.addCleanup(lambda: self.assertEqual(errors, []))
        self.addCleanup(lambda: self.assertEqual(asked, [html.as_uri()], "the page loads other files"))
        self.page.goto(html.as_uri())
        self.page.wait_for_selector("body[data-ready='1']")
        return self.page

    def open(self, model, screen=DESKTOP):
        """Opens the page that `tern optimize` writes for the model, and stores the `--json` report in self.report."""
        html = self.dir / "page.html"
        self.report = self.json("optimize", model, "--html", html, "--json")
        return self.show(html, screen)

    def keep_picture(self, name):
        path = SHOTS / f"{name}.png"
        path.unlink(missing_ok=True)
        self.page.screenshot(path=path)
        self.assertGreater(path.stat().st_size, 10_000)

    def after_frame(self):
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def transform(self, side):
        return self.page.evaluate("s => { const v = sides[s].view; return [v.x, v.y, v.k, sides[s].root.getAttribute('transform')]; }", side)

    def names(self, selector):
        return self.page.eval_on_selector_all(selector, "all => all.map(e => e.dataset.name)")

    def details(self):
        rows = self.page.eval_on_selector_all("#detail tr", "all => all.map(r => [...r.cells].map(c => c.textContent))")
        return dict(rows)

    def search(self, text):
        self.page.fill("#search", text)
        return self.page.text_content("#found"), self.page.locator("#results li button")

    def boxes(self, selector):
        """Returns bounding boxes on the screen, as [left, top, right, bottom]."""
        return self.page.eval_on_selector_all(
            selector, "all => all.map(e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })")

    def assert_no_page_scroll(self):
        wide, inner = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        self.assertLessEqual(wide, inner, "the page scrolls sideways")
        self.assertEqual(inner, self.page.viewport_size["width"], "the page is wider than the screen")


def inside(inner, outer, slack=1):
    return (inner[0] >= outer[0] - slack and inner[1] >= outer[1] - slack and
            inner[2] <= outer[2] + slack and inner[3] <= outer[3] + slack)


def apart(a, b):
    return a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
