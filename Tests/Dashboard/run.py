"""Runs the tests of the dashboard with one browser: run.py [NAME…], the names as unittest takes them."""

import sys
import unittest

from support import Case

if __name__ == "__main__":
    try:
        unittest.main(module=None, argv=["run.py", *(sys.argv[1:] or ["discover", "-s", sys.path[0]])], verbosity=2)
    finally:
        if Case.driver:
            Case.driver.quit()
