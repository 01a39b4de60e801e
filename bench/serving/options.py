"""Options that the scripts share."""

import json
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"


def add(parser):
    parser.add_argument("--tern", default=BUILD / "bin/tern", help="program")
    parser.add_argument("--backends", default=BUILD / "backends", help="folder of the sample plug-ins")
    parser.add_argument("--triton", default=os.environ.get("TRITON_SERVER"), help="bin/tritonserver of pytriton's wheel (TRITON_SERVER)")
    parser.add_argument("--perf-analyzer", default=os.environ.get("PERF_ANALYZER"), help="program (PERF_ANALYZER)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3, help="of one run of a load generator")
    parser.add_argument("--nice", type=int, default=0, help="priority of all processes; negative: before other programs of the machine")
    parser.add_argument("--json", help="write all measurements to this file")


def parsed(parser):
    """The options. Sets the priority, which child processes inherit."""
    args = parser.parse_args()
    os.nice(args.nice)
    return args


def write(args, report):
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(report, indent=1) + "\n")
