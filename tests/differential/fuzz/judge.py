"""Draws, runs and judges one case."""

import pathlib
import shutil
from dataclasses import dataclass

from . import ort_engine, reference_engine
from .case import describe, make_model
from .compare import outputs_differ
from .draw import draw_case
from .tern_engine import Tern, write_data


@dataclass
class Verdict:
    """`status` is matched, mismatched, explained, unsupported, failed or refused."""

    ident: str
    op: str
    status: str
    message: str = ""
    about: str = ""
    known: int | None = None   # index into the list of known differences
    agreed: tuple = ()         # if matched, the indices of known differences that cover the case
    folder: str = ""


class Judge:
    """Compares one engine with onnxruntime. `known` is the list of explained differences (`Known`)."""

    def __init__(self, engine, known, scratch, save=None):
        self.tern = None if engine == "reference" else Tern(engine, scratch)
        self.known = known
        self.save = pathlib.Path(save) if save else None

    def judge(self, op, seed):
        case = draw_case(op, seed)
        try:
            expected = ort_engine.run(case)
        except ort_engine.Refused as refusal:
            return Verdict(case.ident, op.key, "refused", _short(refusal), describe(case))
        answer = self.tern.run(case, expected) if self.tern else reference_engine.run(case)
        message = answer.message
        status = answer.status
        if status == "ran":
            message = outputs_differ(expected, answer.outputs, case.check) or ""
            status = "mismatched" if message else "matched"
        verdict = Verdict(case.ident, op.key, status, message, describe(case))
        if status == "matched":
            verdict.agreed = tuple(i for i, entry in enumerate(self.known) if entry.explains(case))
        if status in ("mismatched", "failed"):
            self._look_into(case, expected, answer, verdict)
        return verdict

    def _look_into(self, case, expected, answer, verdict):
        if verdict.status == "mismatched":  # a failure is never an explained difference
            verdict.known = next((i for i, entry in enumerate(self.known) if entry.explains(case)), None)
        if verdict.known is not None:
            verdict.status = "explained"
            return
        if self.tern:
            verdict.message += f" [{_second_opinion(case, expected, answer)}]"
        if self.save:
            verdict.folder = str(self._store(case, expected, verdict))

    def _store(self, case, expected, verdict):
        """Writes the case to a folder that `tern verify` accepts, with a note about the difference."""
        folder = self.save / case.ident.replace(":", "_")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(make_model(case).SerializeToString())
        write_data(folder, case, expected)
        (folder / "note.txt").write_text(f"{verdict.about}\n{verdict.status}: {verdict.message}\n")
        return folder


def _second_opinion(case, expected, answer):
    """Returns a message that says which engine the numpy model or onnx.reference agrees with. The message is only a
    hint, because onnx.reference has faults."""
    third = reference_engine.run(case)
    if third.status != "ran":
        return "no second opinion"
    if outputs_differ(expected, third.outputs, case.check) is None:
        return "the reference agrees with onnxruntime"
    if answer.outputs is not None and outputs_differ(third.outputs, answer.outputs, case.check) is None:
        return "the reference agrees with this engine, not with onnxruntime"
    return "the reference agrees with neither"


def _short(error):
    text = " ".join(str(error).split())
    return text if len(text) < 400 else text[:120] + " ... " + text[-270:]
