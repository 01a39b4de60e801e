"""Tests the examples of the documentation: runs shell blocks, and compiles C++ programs against an installed Tern and
runs them."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from docs_pages import ROOT, blocks, uses_python, written_pages
from support import TERN, CliTest

BUILD = pathlib.Path(TERN).resolve().parents[1]


class Start(CliTest):
    """Tests the script `./tern` of a checkout."""

    def test_builds_what_users_need_and_no_more(self):
        for name, text in {"scripts/deps": "", "scripts/build": 'echo "built: $*"', "build/release/bin/tern": 'echo "ran: $*"'}.items():
            path = self.dir / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        shutil.copy(ROOT / "tern", self.dir / "tern")
        done = subprocess.run([self.dir / "tern", "demo", "--all"], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "built: release product\nran: demo --all\n", done.stderr)

    def test_the_product_holds_no_test(self):
        done = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "product"], capture_output=True, text=True, check=True)
        made = [word for line in done.stdout.splitlines() for flag, word in zip(line.split(), line.split()[1:]) if flag == "-o"]
        for name in ("bin/tern", "lib/libtern_onnx.so"):
            self.assertIn(name, made)
        self.assertTrue(any(name.startswith("lib/libtern.so") for name in made), made[-10:])
        self.assertEqual([name for name in made if "_test" in name], [])


class Examples(CliTest):
    """Runs the examples in a folder that looks like a checkout after a build, with `./tern`, `examples` and
    `build/release`."""

    def checkout(self, name):
        folder = self.dir / name
        shutil.copytree(ROOT / "examples", folder / "examples")
        (folder / "build").mkdir()
        (folder / "build/release").symlink_to(BUILD)
        (folder / "tern").write_text(f'#!/bin/sh\nexec "{TERN}" "$@"\n')
        (folder / "tern").chmod(0o755)
        return folder

    def run_page(self, page):
        """Runs a page's shell blocks in order. The page's first C++ block is written to app.cc."""
        folder = self.checkout("_".join(page.relative_to(ROOT).with_suffix("").parts))
        for block in blocks(page, "cpp")[:1]:
            (folder / "app.cc").write_text(block.text)
        before = set(folder.iterdir())
        for block in blocks(page, "sh"):
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", block.text], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
            self.assertEqual(done.returncode, 0, f"{block.place}\n{block.text}\n{done.stdout}\n{done.stderr}")
        self.assertEqual([path.name for path in set(folder.iterdir()) - before], [], f"{page.name} creates files outside build/, which git would not ignore")

    def test_shell_blocks_run(self):
        pages = [page for page in written_pages() if blocks(page, "sh") and not uses_python(page)]
        self.assertGreater(len(pages), 4)
        for page in pages:
            with self.subTest(page=page.relative_to(ROOT)):
                self.run_page(page)

    def test_programs_compile_and_run(self):
        programs = [block for page in written_pages() for block in blocks(page, "cpp")
                    if not block.file and "int main(" in block.text and '"build/' not in block.text]  # their page makes the model and runs them
        self.assertGreater(len(programs), 2)
        folder = self.checkout("programs")
        subprocess.run(["cmake", "--install", BUILD, "--prefix", folder / "prefix"], check=True, capture_output=True)
        library = next((folder / "prefix").glob("lib*/**/libtern.so")).parent
        for i, block in enumerate(programs):
            with self.subTest(block=block.place):
                source, program = folder / f"app{i}.cc", folder / f"app{i}"
                source.write_text(block.text)
                subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", source, "-o", program, f"-I{folder}/prefix/include",
                                f"-L{library}", *(f"-ltern_{part}" for part in ("pipeline", "quantize") if f"tern/{part}.hpp" in block.text), "-ltern", "-pthread"], check=True)
                done = subprocess.run([program], cwd=folder, env=dict(os.environ, LD_LIBRARY_PATH=str(library)), capture_output=True,
                                      text=True, check=False, timeout=120)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                if "probabilities" in block.text:
                    values = [float(word) for word in done.stdout.split()]
                    self.assertEqual(len(values), 10)
                    self.assertAlmostEqual(sum(values), 1, places=2)


class Pages(CliTest):
    def test_the_introduction_claims_what_is_there(self):
        intro = (ROOT / "README.md").read_text().split("```")[0]
        parts = {"quantize": "src/compress", "prune": "src/compress", "compress": "src/compress", "distill": "src/compress", "train ": "src/train",
                 "server": "src/server", "serves": "src/server", "compile": "src/codegen", "GPU": "src/kernels/cuda", "Python": "src/bindings/python",
                 "TensorFlow": "src/import/tensorflow", "PyTorch": "src/import/torch", "MindSpore": "src/import/mindir", "Caffe": "src/import/caffe"}
        self.assertEqual([word for word, folder in parts.items() if word in intro and not (ROOT / folder).exists()], [])
        for verb in ("inspects", "optimizes", "converts", "verifies", "runs"):
            self.assertIn(verb, intro)

    def test_the_overview_says_what_happens_to_the_digits(self):
        page = (ROOT / "docs/architecture/overview.md").read_text()
        report = self.json("optimize", ROOT / "examples/digits/digits.onnx", "--level", "layout", "-o", self.dir / "digits.tern", "--json")
        self.assertIn(f"{report['nodes_after']} of the {report['nodes_before']} nodes remain", page)
        self.assertEqual([rule for rule in report["rules"] if f"`{rule}`" not in page], [])

    def test_the_checks_need_git_and_say_so(self):
        (self.dir / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/check", self.dir / "scripts/check")
        done = subprocess.run([self.dir / "scripts/check"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("not a git checkout", done.stderr)

    def test_the_list_of_ops_is_up_to_date(self):
        self.assertEqual(self.ok("ops", "--markdown").stdout, (ROOT / "docs/reference/ops.md").read_text(), "run: ./tern ops --markdown > docs/reference/ops.md")

    def test_the_lists_of_operators_are_up_to_date(self):
        formats = self.json("doctor", "--json")["operators"]
        self.assertIn("onnx", formats)
        for name in formats:
            page = ROOT / "docs/reference/operators" / f"{name}.md"
            self.assertEqual(self.ok("ops", "--format", name, "--markdown").stdout, page.read_text() if page.exists() else None,
                             f"run: ./tern ops --format {name} --markdown > docs/reference/operators/{name}.md")

    def test_the_list_of_passes_is_up_to_date(self):
        self.assertEqual(self.ok("passes", "--markdown").stdout, (ROOT / "docs/reference/passes.md").read_text(),
                         "run: ./tern passes --markdown > docs/reference/passes.md")

    def test_the_list_of_passes_is_whole(self):
        text = (ROOT / "docs/reference/passes.md").read_text()
        headings = set(re.findall(r"^### (.*)$", text, re.M))
        rules = [p for p in self.json("passes", "--json")["passes"] if p["group"] != "pass"]
        self.assertEqual({r["id"] for r in rules} - headings, set())
        self.assertEqual(text.count("```mermaid"), len(rules))
        links = set(re.findall(r"\]\(#([a-z0-9]+)\)", text))
        self.assertEqual(links - {h.lower() for h in headings}, set(), "links that lead nowhere")


if __name__ == "__main__":
    unittest.main()
