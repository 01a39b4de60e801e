"""Writes src/import/torch/operators.inc and src/import/torch/aten/schemas*.inc from the registry of the installed PyTorch.

The schemas are those of the operators that have a converter (table.Add("aten::…")).
"""

import pathlib
import re

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "src/import/torch"
SKIPPED = re.compile(
    r"_backward|_jvp|sparse|mkldnn|cudnn|miopen|fbgemm|quantize|_q_|^q_|nested|foreach|_copy$|cufft|xnnpack|vulkan|^_cuda|fake_quant|fused_|"
    r"^sym_constrain|^is_|^set_|^retain|^record_stream|^requires|^rename|^refine_names|^align_|^names|^data$|^output_nr|^_version|^grad$|"
    r"^cat_|coalesce|^values$|^indices$|^crow_|^col_|^ccol_|^row_indices|_values$|^to_|^from_|^resize|^special_|_fw_|^glu_"
)


def imported():
    names = set()
    for file in FOLDER.glob("aten/*.cc"):
        if file.stem.endswith("_test"):
            continue
        names |= set(re.findall(r'"((?:aten|quantized_decomposed)::\w+)(?:\.\w+)?"', file.read_text()))
    return names


def is_functional(schema):
    text = str(schema)
    return "!" not in text.split("->")[0] and not re.search(r"(^|_)out$", schema.overload_name) and "Dimname" not in text and "..." not in text


def operators(schemas):
    names = set()
    for s in schemas:
        name = s.name.removeprefix("aten::")  # names of other namespaces do not match below
        tensors = [a for a in s.arguments if "Tensor" in str(a.type)] or [r for r in s.returns if "Tensor" in str(r.type)]
        if is_functional(s) and tensors and not name.startswith("_") and not SKIPPED.search(name) and re.fullmatch(r"\w+", name):
            names.add(name)
    return sorted(names)


def wrapped(items, width=108):
    lines, line = [], ""
    for item in items:
        if line and len(line) + 1 + len(item) > width:
            lines.append(line)
            line = ""
        line = f"{line} {item}".strip()
    return "\n".join([*lines, line]) + "\n"


def order(schema):
    """Overloads on tensors come first, then those on scalars, as in PyTorch's own resolution."""
    first = str(schema).split("(", 1)[1]
    return (schema.name, first.count("Scalar"), schema.overload_name)


def main():
    known = ("aten::", "quantized_decomposed::")
    schemas = [s for s in torch._C._jit_get_all_schemas() if s.name.startswith(known)]
    note = "// PyTorch's operators (aten). tests/importers/torch/list_aten.py writes this file.\n"
    rows = [f"TERN_ATEN_OPERATOR({name})" for name in operators(schemas)]
    (FOLDER / "operators.inc").write_text(note + wrapped(rows))
    wanted = imported()
    lines = {}
    for s in sorted(schemas, key=order):
        if s.name in wanted and is_functional(s):
            lines.setdefault(str(s), None)
    missing = wanted - {s.name for s in schemas}
    if missing:
        print("not in the registry:", *sorted(missing))
    note = "// The schemas of the operators that Tern imports. tests/importers/torch/list_aten.py writes this file.\n"
    for file in ("a_k", "l_q", "r_z"):
        rows_here = [f"TERN_ATEN({quoted(text)})\n" for text in lines if file[0] <= first_letter(text) <= file[-1]]
        (FOLDER / f"aten/schemas_{file}.inc").write_text(note + "".join(rows_here))
    print(len(rows), "operators,", len(lines), "schemas")


def first_letter(schema):
    return schema.split("::")[1].lstrip("_")[0]


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


main()
