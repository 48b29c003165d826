"""`python -m nmf2` is the `nmf2` command; both begin here, where nothing large is loaded"""
import atexit
import os
import signal
import sys

USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


def leave(done):
    """End at once when all is done and said: Python would give back its memory piece by piece, which takes a while"""
    if not done: return
    try:
        for stream in (sys.stdout, sys.stderr): stream.flush()
    except (OSError, ValueError, AttributeError): return
    os._exit(done[0])


def main():
    """The command. Ctrl-C and SIGTERM end it without a word while modules are loaded, with the status of a stopped
    command, and when all is done, with the status of that; between these `nmf2.cli.main` sees to it"""
    done = []
    def end(number, _): os._exit(done[0] if done else 128 + number)
    alone = not getattr(atexit, "_ncallbacks", lambda: 1)()           # does nobody else want to be called last?
    if alone: atexit.register(leave, done)
    for number, handler in USUAL.items():
        if signal.getsignal(number) is not handler: continue
        signal.signal(number, end)
        atexit.register(signal.signal, number, signal.SIG_IGN)        # called last but that, when Python gives up handlers
    from nmf2.loading import put_off
    with put_off(): from nmf2.cli import main
    done.append(main() or 0)
    if done[0] > 128: sys.unraisablehook = lambda lost: None      # stopped: objects that were half made
    sys.exit(done[0])                                             # whoever calls this has come to the end, too


if __name__ == "__main__": main()
