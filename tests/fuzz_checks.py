"""What every kind of fuzzing needs: what counts as a failure, and how errors and warnings are looked at"""
import os
import re
import traceback
import unicodedata
from pathlib import Path

WARNINGS = {"UserWarning", "EmptyDocumentsWarning", "ConvergenceWarning"}       # categories that users may see

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
    return re.sub(r"[-+]?\d[\d.,_]*(e[-+]?\d+)?j?|\s+", lambda match: "#" if match[0].strip() else " ", message)[:100]

def check_message(error, names):
    "Stop at the error of a refusal that a user can't read, or that names none of `names`"
    message, fault = str(error), None
    if not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message) for name in names): fault = "names nothing"
    if len(message) >= 500: fault = f"is {len(message)//100*100} characters long"
    if any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in message): fault = "is not one line of readable characters"
    if fault: raise Failure(f"message of {type(error).__name__} {fault}: {general(message)}") from error

def attempt(work, names):
    "What `work` gives, or its refusal; `names` are those that the message may name"
    try: return work()
    except (ValueError, OSError) as error:
        check_message(error, names)
        return Refusal(f"{type(error).__name__}: {general(str(error))}")

def check_warnings(said):
    "Stop at a warning that is not for users"
    for w in said:
        name = w.category.__name__
        if name not in WARNINGS: raise Failure(f"{name} from {Path(w.filename).name}:{w.lineno}: {general(str(w.message))}")

def package_folder():
    import nmf2
    return os.path.dirname(os.path.abspath(nmf2.__file__)) + os.sep

def signature(error):
    "Class of an error, what it says if it is about a promise, and the last function of the package that it came through"
    where, text = "", f"{type(error).__name__}: {general(str(error))}"
    for e in (error, error.__cause__):
        frames = [f for f in traceback.extract_tb(e.__traceback__) if f.filename.startswith(package_folder())] if e else []
        if frames: where = f" at {Path(frames[-1].filename).name} {frames[-1].name}"
    return (str(error)[:200] if isinstance(error, Failure) else text) + where

def pick(rng, things): return things[int(rng.integers(len(things)))]        # any list; `rng.choice` would make arrays of it
