"`python -m nmf2` is the `nmf2` command"
import sys

from nmf2.cli import main

sys.exit(main())
