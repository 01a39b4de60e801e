"""Tests what `tern serve` says about folders in another layout than Triton's. Also tests several models on the command line."""

from serving import ServeTest, identity


class Folders(ServeTest):
    def models(self, *paths):
        """Saves a model at each of these paths in the folder `nets`. Returns the folder."""
        for path in paths:
            (self.dir / "nets" / path).parent.mkdir(parents=True, exist_ok=True)
            self.save(identity(), f"nets/{path}")
        return self.dir / "nets"

    def ready(self, server, *names):
        for name in names:
            self.assertEqual(server.json("GET", f"/v2/models/{name}/ready")[0], 200, f"{name}\n{server.text()}")

    def warning(self, *args):
        """Returns the warning of a server that runs without models."""
        text = self.serve(*args).text()
        self.assertIn(" serves\n  no models\n", text)
        return text.partition("\n")[0]

    def test_model_files_outside_of_folders_of_models(self):
        root = self.models("a.onnx", "b.onnx")
        self.assertEqual(self.warning("--repository", root),
                         f"warning: the model repository '{root}' has model files outside of folders of models, which are not served: a.onnx, b.onnx; "
                         f"move a.onnx to {root}/a/1/model.onnx, or serve it with: tern serve --model a={root}/a.onnx")
        self.ready(self.serve("--model", f"a={root}/a.onnx"), "a")
        (root / "a/1").mkdir(parents=True)
        (root / "a.onnx").rename(root / "a/1/model.onnx")
        server = self.serve("--repository", root)
        self.ready(server, "a")
        self.assertIn("which are not served: b.onnx; move b.onnx to ", server.text())

    def test_a_repository_without_models(self):
        root = self.models("m/1/model.onnx")
        text = self.serve("--repository", root / "m").text()
        self.assertIn(f"'{root}/m' has the folder 1, as the folder of one model has; serve it with: tern serve --model m={root}/m, or name the folder above "
                      f"it: --repository {root}\n", text)
        self.ready(self.serve("--model", f"m={root}/m"), "m")
        (self.dir / "empty").mkdir()
        self.assertIn(f"has no folders of models, such as {self.dir}/empty/NAME/1 with the file model.onnx", self.warning("--repository", self.dir / "empty"))
        self.assertNotIn("warning", self.serve("--repository", self.dir / "empty", "--model-control", "poll").text())
        named_7 = self.models("7/1/model.onnx")
        self.assertNotIn("warning", self.serve("--repository", named_7).text())

    def test_a_folder_of_models_without_an_option(self):
        root = self.models("m/1/model.onnx", "n/3/model.onnx")
        self.ready(self.serve(root), "m", "n")
        self.ready(self.serve(root / "m"), "m")
        self.ready(self.serve(root / "n/3"), "3")

    def test_several_files(self):
        root = self.models("a.onnx", "b.onnx", "x/b.onnx")
        self.ok("convert", root / "b.onnx", "-o", root / "c.tern")
        self.ready(self.serve(root / "a.onnx", root / "c.tern", "--model", f"mine={root}/b.onnx"), "a", "c", "mine")
        self.refused("serve", root / "b.onnx", root / "x/b.onnx", says=["b.onnx' would both be served as 'b'", "--model NAME=PATH"])
        self.refused("serve", "", says="the path of a model is empty")
        self.refused("serve", root, says=[f"the folder '{root}' contains several models", f": tern serve {root}/a.onnx {root}/b.onnx {root}/c.tern, or",
                                          f"{root}/a/1/model.onnx"])

    def test_folders_without_versions(self):
        root = self.models("m/model.onnx", "n/net.onnx")
        self.refused("serve", root, says=f"{root}/m/1; serve them without versions: tern serve {root}/m {root}/n")
        self.ready(self.serve(root / "m", root / "n"), "m", "n")

    def test_help_shows_that_the_model_is_optional(self):
        self.assertIn("\nUsage: tern serve [OPTIONS] [MODEL...]\n", self.ok("serve", "--help").stdout)
