"""What the benchmark scripts share: collections, scores, the machine, JSON files and tables."""
import argparse
import json
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from nmf2.data import load

RESULTS = Path(__file__).parent/"results"


def arguments(doc, output):
    """The command line of a script: `--quick` and `--output`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small collections and one seed only: a check that the script runs")
    parser.add_argument("--output", type=Path, default=None,
                        help=f"the JSON file to write (default: benchmarks/results/{output}, with --quick none)")
    args = parser.parse_args()
    if args.output is None and not args.quick: args.output = RESULTS/output
    return args


def collections(names):
    """Yield the labelled documents of each collection that NMF2_DATA has, with class numbers; say which are missing."""
    if not os.environ.get("NMF2_DATA"):
        sys.exit("Set the environment variable NMF2_DATA to the folder of the collections.")
    found = False
    for name in names:
        try: corpus = load(name).labelled()
        except FileNotFoundError:
            say(f"{name}: not in NMF2_DATA, skipped")
            continue
        found = True
        yield name, corpus, corpus.classes()[0]
    if not found: sys.exit(f"None of these collections is in NMF2_DATA: {', '.join(names)}")


def nmi(classes, labels):
    """Normalized mutual information (arithmetic mean of the entropies); outliers, -1, are one more cluster."""
    return float(normalized_mutual_info_score(classes, labels))


def machine():
    """What a figure depends on beside the code."""
    cpu = platform.processor()
    if Path("/proc/cpuinfo").exists():
        found = [s.split(":")[1].strip() for s in Path("/proc/cpuinfo").read_text().splitlines() if s.startswith("model name")]
        cpu = found[0] if found else cpu
    packages = ["nmf2", "numpy", "scipy", "scikit-learn", "numba"]
    return dict(cpu=cpu, cores=os.cpu_count(), system=platform.system(), python=platform.python_version(),
                **{p: _version(p) for p in packages})


def _version(package):
    if package == "nmf2":
        import nmf2
        return nmf2.__version__
    return version(package)


def write(path, shown, **record):
    """Write a result with the machine and the command that made it, one line for each entry of `rows`, and the table beside it."""
    print(shown)
    if path is None: return
    record = dict(command=f"python benchmarks/{Path(sys.argv[0]).name}" + " --quick"*("--quick" in sys.argv), machine=machine(), **record)
    rows = record.pop("rows")
    head = json.dumps(record, indent=1, ensure_ascii=False)[:-2]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + ',\n "rows": [\n  ' + ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n ]\n}\n",
                    encoding="utf-8")
    path.with_suffix(".md").write_text(f"{record['what']}\n\n{shown}\n", encoding="utf-8")
    say(f"wrote {path} and {path.with_suffix('.md').name}")


def mean_sd(values, digits=3):
    """Mean and standard deviation over seeds, as text; the mean alone for one value."""
    mean, sd = np.mean(values), np.std(values, ddof=1) if len(values) > 1 else 0
    return f"{mean:.{digits}f}" + (f" ± {sd:.{digits}f}" if len(values) > 1 else "")


def table(head, rows):
    """A markdown table."""
    lines = [head, ["---"]*len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def say(text):
    """Report on standard error, with the time."""
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)
