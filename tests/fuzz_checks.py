"""What every kind of fuzzing needs: what counts as a failure, and how errors and warnings are looked at"""
import os
import re
import traceback
import unicodedata
from pathlib import Path

WARNINGS = {"UserWarning", "EmptyDocumentsWarning", "ConvergenceWarning"}       # categories that users may see
CONTROLS = {"Cc", "Cs", "Zl", "Zp"}             # kinds of characters in Unicode that end lines, or are none

class Failure(Exception):
    "A promise that does not hold; its cause, if there is one, says where."

class Refusal(str):
    "The message of an error that is as it should be, without numbers and names."

def require(good, what):
    if not good: raise Failure(what)

def general(message):
    "A message without what differs from case to case, in plain letters"
    message = message[:2000].encode("ascii", "backslashreplace").decode()
    message = re.sub(r"'[^']*'|\"[^\"]*\"", "'...'", re.sub(r"/\w[^\s:,']*/", ".../", message))
    return " ".join(re.sub(r"[-+]?\d[\d.,_]*(e[-+]?\d+)?j?", "#", message).split())[:100]

def check_message(error, names):
    "Stop at the error of a refusal that a user can't read, or that names none of `names`"
    message, fault = str(error), None
    if not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message) for name in names): fault = "names nothing"
    if len(message) >= 500: fault = f"is {len(message)//100*100} characters long"
    if CONTROLS & set(map(unicodedata.category, message)): fault = "is not one line of readable characters"
    first = general(message.split("\n")[0])
    if fault: raise Failure(f"message of {type(error).__name__} {fault}: {first}") from error

def attempt(work, names):
    "What `work` gives, or its refusal; `names` are those that the message may name"
    try: return work()
    except (ValueError, OSError) as error:
        check_message(error, names)
        return Refusal(f"{type(error).__name__}: {general(str(error))}")

def refused(result): return isinstance(result, Refusal)

def check_warnings(said):
    "Stop at a warning that is not for users"
    for w in said:
        name, text = w.category.__name__, general(str(w.message))
        if name not in WARNINGS: raise Failure(f"{name} from {Path(w.filename).name}:{w.lineno}: {text}")

def in_package(error):
    "The functions of the package that an error came through"
    import nmf2
    folder = os.path.dirname(os.path.abspath(nmf2.__file__)) + os.sep
    return [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(folder)]

def signature(error):
    "What went wrong, and the last function of the package that the error or its cause came through"
    text = str(error)[:200] if isinstance(error, Failure) else f"{type(error).__name__}: {general(str(error))}"
    frames = in_package(error) or (in_package(error.__cause__) if error.__cause__ else [])
    return text + (f" at {Path(frames[-1].filename).name} {frames[-1].name}" if frames else "")

def pick(rng, things):
    "One of them, whatever they are: `rng.choice` would make an array of them first"
    return things[int(rng.integers(len(things)))]
