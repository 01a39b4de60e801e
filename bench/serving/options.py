"""The options that all scripts have."""

import json
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"


def add(parser):
    parser.add_argument("--tern", default=BUILD / "bin/tern", help="the tern binary to measure")
    parser.add_argument("--backends", default=BUILD / "backends", help="folder of the sample plug-ins")
    parser.add_argument("--triton", default=os.environ.get("TRITON_SERVER"), help="path of bin/tritonserver in pytriton's wheel (default: $TRITON_SERVER)")
    parser.add_argument("--perf-analyzer", default=os.environ.get("PERF_ANALYZER"), help="path of perf_analyzer (default: $PERF_ANALYZER)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3, help="length of one run of a load generator")
    parser.add_argument("--nice", type=int, default=0, help="niceness of all processes; a negative value gives them a higher priority than other programs")
    parser.add_argument("--json", help="write all measurements to this file")


def parsed(parser):
    """Parses the command line and returns the options. Sets the niceness of this process, which child processes inherit."""
    args = parser.parse_args()
    os.nice(args.nice)
    return args


def write(args, report):
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(report, indent=1) + "\n")
