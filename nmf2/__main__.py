"""`python -m nmf2` is the `nmf2` command; both begin here, where nothing large is loaded"""
import os
import signal
import sys


def main():
    "The command. Ctrl-C ends it without a word while modules are loaded; later `nmf2.cli.main` sees to it"
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual: signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from nmf2.cli import main
    try: return main()
    finally:
        if usual: signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__": sys.exit(main())
