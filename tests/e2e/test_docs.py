"""The README's examples, as they are written: every `./tern` line, and the C++ program against an installed Tern."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

from support import TERN, CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(TERN).resolve().parents[1]
# These start everything again from the beginning.
NOT_HERE = ("./tern test", "./tern demo")


PAGES = ("README.md", "docs/tuning.md")


def blocks(language, page="README.md"):
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.S | re.M)


class Start(CliTest):
    """`./tern` from a checkout."""

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


class Readme(CliTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(ROOT / "examples/digits", self.dir / "examples/digits")

    def test_every_command_line_runs(self):
        lines = [line for page in PAGES for block in blocks("", page) for line in block.splitlines() if line.startswith("./tern ")]
        lines = [line for line in lines if not line.startswith(NOT_HERE)]
        self.assertGreater(len(lines), 4)
        for line in lines:
            words = shlex.split(line, comments=True)[1:]
            done = subprocess.run([TERN, *words], cwd=self.dir, capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}\n{done.stderr}")

    def test_what_is_planned_is_called_so(self):
        """The introduction names no command or part that is not there but as planned."""
        intro = (ROOT / "README.md").read_text().split("```")[0]
        today, planned = intro.split("Planned, and not there yet:")
        parts = {"quantize": "src/compress", "prune": "src/compress", "compress": "src/compress", "distill": "src/compress", "training": "src/train",
                 "server": "src/server", "serve": "src/server", "compile": "src/codegen", "GPU": "src/kernels/cuda", "Python": "src/bindings/python",
                 "TensorFlow": "src/import/tensorflow", "PyTorch": "src/import/pytorch", "Caffe": "src/import/caffe", "framework": "src/import/pytorch"}
        for word, folder in parts.items():
            if (ROOT / folder).exists():
                self.assertNotIn(word, planned, f"{folder} is there")
            else:
                self.assertNotIn(word, today, f"{folder} is not there")
        for verb in ("inspects", "optimizes", "converts", "verifies", "runs"):
            self.assertIn(verb, today)

    def test_examples_leave_nothing_in_a_checkout(self):
        """What the lines write lies under folders that git ignores."""
        ignored = [line.strip("/\n") for line in (ROOT / ".gitignore").read_text().splitlines()]
        before = set(self.dir.iterdir())
        self.test_every_command_line_runs()
        self.assertEqual([p.name for p in set(self.dir.iterdir()) - before if p.name not in ignored], [])

    def test_the_checks_need_git_and_say_so(self):
        (self.dir / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/check", self.dir / "scripts/check")
        done = subprocess.run([self.dir / "scripts/check"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no git checkout", done.stderr)

    def test_the_list_of_ops_is_up_to_date(self):
        self.assertEqual(self.ok("ops", "--markdown").stdout, (ROOT / "docs/ops.md").read_text(), "run: ./tern ops --markdown > docs/ops.md")

    def test_the_list_of_passes_is_up_to_date(self):
        self.assertEqual(self.ok("passes", "--markdown").stdout, (ROOT / "docs/passes.md").read_text(),
                         "run: ./tern passes --markdown > docs/passes.md")

    def test_the_list_of_passes_is_whole(self):
        text = (ROOT / "docs/passes.md").read_text()
        headings = set(re.findall(r"^### (.*)$", text, re.M))
        rules = [p for p in self.json("passes", "--json")["passes"] if p["group"] != "pass"]
        self.assertEqual({r["id"] for r in rules} - headings, set())
        self.assertEqual(text.count("```mermaid"), len(rules))
        links = set(re.findall(r"\]\(#([a-z0-9]+)\)", text))
        self.assertEqual(links - {h.lower() for h in headings}, set(), "links that lead nowhere")

    def test_the_program_compiles_and_prints_ten_probabilities(self):
        (source,) = blocks("cpp")
        (self.dir / "app.cc").write_text(source)
        prefix, program = self.dir / "prefix", self.dir / "app"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True)
        library = next(prefix.glob("lib*/**/libtern.so")).parent
        subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", self.dir / "app.cc", "-o", program, f"-I{prefix}/include",
                        f"-L{library}", "-ltern", "-pthread"], check=True)
        done = subprocess.run([program], cwd=self.dir, env=dict(os.environ, LD_LIBRARY_PATH=str(library)), capture_output=True,
                              text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        values = [float(word) for word in done.stdout.split()]
        self.assertEqual(len(values), 10)
        self.assertAlmostEqual(sum(values), 1, places=2)


if __name__ == "__main__":
    unittest.main()
