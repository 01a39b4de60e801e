"""Tests the scripts of cmake/ that write tern.pc and the hash of the importers' interface."""

import os
import pathlib
import subprocess
import time

from support import CliTest

CMAKE = pathlib.Path(__file__).resolve().parents[2] / "cmake"


class Packaging(CliTest):
    def call(self, *command, **kwargs):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=60, **kwargs)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout.strip()

    def pkg_config(self, prefix, lib, include="include"):
        """Writes tern.pc to the folder in which CMake would install it. Returns the folders that pkg-config prints,
        without "." and ".."."""
        folder = prefix / lib / "pkgconfig"  # lib may be absolute
        script = self.dir / "write.cmake"
        script.write_text(f"""
set(CMAKE_INSTALL_PREFIX {prefix})
set(CMAKE_INSTALL_LIBDIR {lib})
set(CMAKE_INSTALL_INCLUDEDIR {include})
set(PROJECT_VERSION 1.2.3)
include({CMAKE}/TernPkgConfig.cmake)
tern_pkg_config({folder}/tern.pc)
""")
        self.call("cmake", "-P", script)
        env = dict(os.environ, PKG_CONFIG_PATH=str(folder))
        self.assertEqual(self.call("pkg-config", "--modversion", "tern", env=env), "1.2.3")
        return [os.path.normpath(self.call("pkg-config", f"--variable={name}", "tern", env=env)) for name in ("prefix", "libdir", "includedir")]

    def test_pkg_config_for_any_library_folder(self):
        prefix = self.dir / "prefix"
        for lib in ("lib", "lib64", "lib/x86_64-linux-gnu", "a/b/c"):
            with self.subTest(lib=lib):
                self.assertEqual(self.pkg_config(prefix, lib), [str(prefix), str(prefix / lib), str(prefix / "include")])

    def test_pkg_config_for_absolute_folders(self):
        prefix, lib, include = self.dir / "prefix", self.dir / "out/lib", self.dir / "dev/include"
        self.assertEqual(self.pkg_config(prefix, lib), [str(prefix), str(lib), str(prefix / "include")])
        self.assertEqual(self.pkg_config(prefix, "lib", include), [str(prefix), str(prefix / "lib"), str(include)])

    def test_an_installation_can_be_moved(self):
        prefix, moved = self.dir / "prefix", self.dir / "moved"
        self.pkg_config(prefix, "lib/x86_64-linux-gnu")
        prefix.rename(moved)
        env = dict(os.environ, PKG_CONFIG_PATH=str(moved / "lib/x86_64-linux-gnu/pkgconfig"))
        self.assertEqual(os.path.normpath(self.call("pkg-config", "--variable=prefix", "tern", env=env)), str(moved))

    def interface_id(self, root, version="1.2.3"):
        root.mkdir(exist_ok=True)
        names = sorted(p.name for p in root.glob("*.h"))
        (root / "files").write_text("\n".join(names) + "\n")
        output = root / "out/interface_id.generated"
        self.call("cmake", f"-DFILES={root / 'files'}", f"-DROOT={root}", f"-DVERSION={version}", f"-DOUTPUT={output}",
                  "-P", CMAKE / "interface_id.cmake")
        return output

    def test_the_interface_id_follows_the_contents_only(self):
        first, second = self.dir / "first", self.dir / "second"
        for root in (first, second):
            root.mkdir()
            (root / "a.h").write_text("struct A {};\n")
            (root / "b.h").write_text("struct B;\n")
        output = self.interface_id(first)
        text, written = output.read_text(), output.stat().st_mtime_ns
        self.assertRegex(text, '#define TERN_INTERFACE_ID "[0-9a-f]{16}"\n')
        self.assertEqual(self.interface_id(second).read_text(), text, "the hash does not depend on the folder")
        time.sleep(0.02)
        (first / "a.h").touch()
        self.assertEqual(self.interface_id(first).stat().st_mtime_ns, written, "nothing is rewritten, so nothing is compiled again")
        self.assertNotEqual(self.interface_id(second, version="1.2.4").read_text(), text)
        (first / "a.h").write_text("struct A { int added; };\n")
        self.assertNotEqual(self.interface_id(first).read_text(), text)
        (second / "c.h").write_text("")
        self.assertNotEqual(self.interface_id(second).read_text(), text)
