"""torch.compile(model, backend="tern").

The string "tern" works without an import of this module if the package is installed, because torch finds the backend by the
package's entry point. In a source tree, `import tern.torch` registers it.

Options, as torch.compile(model, backend="tern", options={...}):

fallback=True   torch runs a graph that Tern cannot run, and a warning gives the reason; False raises the reason
verify=True     the first call of each graph is compared with torch, to find wrong translations; costs one more run
threads=None    threads of one run; None means torch.get_num_threads() at the first call
and the other options of `tern.load`, such as precision="bf16".
"""

from torch._dynamo import list_backends, register_backend

from .backend import TernWarning, backend

__all__ = ["TernWarning", "backend"]

if "tern" not in list_backends(exclude_tags=None):
    register_backend(backend, name="tern")
