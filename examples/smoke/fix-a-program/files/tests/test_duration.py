import unittest

from duration import seconds


class Duration(unittest.TestCase):
    def test_one_unit(self):
        self.assertEqual(45, seconds("45s"))

    def test_units_add_up(self):
        self.assertEqual(5400, seconds("1h30m"))

    def test_what_is_no_duration_is_refused(self):
        with self.assertRaises(ValueError):
            seconds("soon")
