import unittest

import words


class TestCount(unittest.TestCase):
    def test_none(self):
        self.assertEqual(words.count(" "), 0)

    def test_some(self):
        self.assertEqual(words.count("one  two\nthree"), 3)
