"""Runs the program as a process of its own: nothing that it does can end these tests, or speak for them."""

import subprocess
import sys
import unittest


def printed(text):
    done = subprocess.run([sys.executable, "duration.py", text], capture_output=True, text=True, timeout=10)
    return done.returncode, done.stdout.strip()


class Hidden(unittest.TestCase):
    def test_all_units_add_up(self):
        self.assertEqual((0, "93784"), printed("26h3m4s"))

    def test_another_sum(self):
        self.assertEqual((0, "61"), printed("1m1s"))

    def test_what_is_left_over_is_refused(self):
        self.assertNotEqual(0, printed("1h30")[0])
