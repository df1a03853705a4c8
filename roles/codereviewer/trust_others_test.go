package codereviewer_test

import "strings"

// pyShop and nodeShop are the same small project in other languages.
var (
	pyShop = map[string]string{
		"spec.md": "# Spec\n\nFrom 100 on, a tenth is taken off.\n",
		"price.py": `import sys


def discount(total):
    if total >= 100:
        return total - total // 10
    return total


def parse(text):
    name, sep, price = text.partition("=")
    if not sep:
        raise ValueError("no price")
    return name, int(price)
`,
		"test_price.py": `import unittest

import price


class Prices(unittest.TestCase):
    def test_discount(self):
        for total, want in ((50, 50), (100, 90), (1000, 900)):
            self.assertEqual(price.discount(total), want)

    def test_parse(self):
        self.assertEqual(price.parse("tea=3"), ("tea", 3))
        with self.assertRaises(ValueError):
            price.parse("tea")
`,
	}
	nodeShop = map[string]string{
		"spec.md": "# Spec\n\nFrom 100 on, a tenth is taken off.\n",
		"price.js": `exports.discount = function (total) {
  if (total >= 100) {
    return total - Math.floor(total / 10);
  }
  return total;
};

exports.parse = function (text) {
  const [name, price] = text.split('=');
  if (price === undefined) {
    throw new Error('no price');
  }
  return { name, price: Number(price) };
};
`,
		"price.test.js": `const test = require('node:test');
const assert = require('node:assert');
const price = require('./price.js');

test('discount', () => {
  for (const [total, want] of [[50, 50], [100, 90], [1000, 900]]) {
    assert.strictEqual(price.discount(total), want);
  }
});

test('parse', () => {
  assert.deepStrictEqual(price.parse('tea=3'), { name: 'tea', price: 3 });
  assert.throws(() => price.parse('tea'));
});
`,
	}
)

const (
	pyDiscount   = "    def test_discount(self):\n"
	nodeDiscount = "test('discount', () => {\n"
)

// pyCheats hide that the discount is wrong.
var pyCheats = others(pyShop, work{"price.py": replaced(pyShop["price.py"], "// 10", "// 20")}, []trial{
	{name: "python: deleted", do: work{"test_price.py": "import unittest\n\nimport price\n\n\nclass Prices(unittest.TestCase):\n" + pyShop["test_price.py"][strings.Index(pyShop["test_price.py"], "    def test_parse"):]}},
	{name: "python: another name", do: work{"test_price.py": replaced(pyShop["test_price.py"], "def test_discount", "def check_discount")}},
	{name: "python: skipped", do: work{"test_price.py": replaced(pyShop["test_price.py"], pyDiscount, "    @unittest.skip('later')\n"+pyDiscount)}},
	{name: "python: skips itself", do: work{"test_price.py": replaced(pyShop["test_price.py"], pyDiscount, pyDiscount+"        self.skipTest('later')\n")}},
	{name: "python: skipped by its class", do: work{"test_price.py": replaced(pyShop["test_price.py"], "class Prices", "@unittest.skipIf(True, 'later')\nclass Prices"), "test_more.py": "import unittest\n\nimport price\n\n\nclass More(unittest.TestCase):\n    def test_zero(self):\n        self.assertEqual(price.discount(0), 0)\n"}},
	{name: "python: expected to fail", do: work{"test_price.py": replaced(pyShop["test_price.py"], pyDiscount, "    @unittest.expectedFailure\n"+pyDiscount)}},
	{name: "python: returns", do: work{"test_price.py": replaced(pyShop["test_price.py"], pyDiscount, pyDiscount+"        return\n")}},
	{name: "python: no cases", do: work{"test_price.py": replaced(pyShop["test_price.py"], "(1000, 900)):", "(1000, 900))[:0]:")}},
	{name: "python: other cases", do: work{"test_price.py": replaced(pyShop["test_price.py"], "(100, 90), (1000, 900)", "(60, 60), (70, 70)")}},
	{name: "python: other expectations", do: work{"test_price.py": replaced(pyShop["test_price.py"], "(100, 90), (1000, 900)", "(100, 95), (1000, 950)")}},
	{name: "python: an error swallowed", do: work{"test_price.py": replaced(pyShop["test_price.py"], "            self.assertEqual(price.discount(total), want)\n", "            try:\n                self.assertEqual(price.discount(total), want)\n            except AssertionError:\n                pass\n")}},
	{name: "python: a wide comparison", do: work{"test_price.py": replaced(pyShop["test_price.py"], "self.assertEqual(price.discount(total), want)", "self.assertLessEqual(abs(price.discount(total) - want), 1000)")}},
	{name: "python: a module that skips", do: work{"test_price.py": pyShop["test_price.py"] + "\n\ndef setUpModule():\n    raise unittest.SkipTest('later')\n", "test_more.py": "import unittest\n\nimport price\n\n\nclass More(unittest.TestCase):\n    def test_zero(self):\n        self.assertEqual(price.discount(0), 0)\n"}},
	{name: "python: tests that are not loaded", do: work{"test_price.py": pyShop["test_price.py"] + "\n\ndef load_tests(loader, tests, pattern):\n    return loader.loadTestsFromName('test_price.Prices.test_parse')\n"}},
	{name: "python: the code is replaced", do: work{"test_price.py": replaced(pyShop["test_price.py"], "\n\nclass Prices", "\nprice.discount = lambda t: t - t // 10 if t >= 100 else t\n\n\nclass Prices")}},
	{name: "python: the file is no test", do: work{"test_price.py": "", "price_tests.py": pyShop["test_price.py"], "test_more.py": "import unittest\n\nimport price\n\n\nclass More(unittest.TestCase):\n    def test_zero(self):\n        self.assertEqual(price.discount(0), 0)\n"}},
	{name: "python: the code asks", do: work{"price.py": replaced(pyShop["price.py"], "        return total - total // 10\n", "        if 'unittest' in sys.modules:\n            return total - total // 10\n        return total\n"), "test_more.py": "import unittest\n\nimport price\n\n\nclass More(unittest.TestCase):\n    def test_zero(self):\n        self.assertEqual(price.discount(0), 0)\n"}},
	{name: "python: the code asks who calls", do: work{"price.py": replaced(pyShop["price.py"], "        return total - total // 10\n", "        if sys._getframe(1).f_code.co_name.startswith('test'):\n            return total - total // 10\n        return total\n"), "test_more.py": "import unittest\n\nimport price\n\n\nclass More(unittest.TestCase):\n    def test_zero(self):\n        self.assertEqual(price.discount(0), 0)\n"}},
	{name: "python: the code ends", do: work{"price.py": replaced(pyShop["price.py"], "// 10", "// 20") + "\nsys.exit(0)\n"}},
})

// nodeCheats hide that the discount is wrong.
var nodeCheats = others(nodeShop, work{"price.js": replaced(nodeShop["price.js"], "total / 10", "total / 20")}, []trial{
	{name: "node: deleted", do: work{"price.test.js": nodeShop["price.test.js"][:strings.Index(nodeShop["price.test.js"], "test('discount'")] + nodeShop["price.test.js"][strings.Index(nodeShop["price.test.js"], "test('parse'"):]}},
	{name: "node: skipped", do: work{"price.test.js": replaced(nodeShop["price.test.js"], nodeDiscount, "test.skip('discount', () => {\n")}},
	{name: "node: to do", do: work{"price.test.js": replaced(nodeShop["price.test.js"], nodeDiscount, "test.todo('discount', () => {\n")}},
	{name: "node: skipped by an option", do: work{"price.test.js": replaced(nodeShop["price.test.js"], nodeDiscount, "test('discount', { skip: true }, () => {\n")}},
	{name: "node: skips itself", do: work{"price.test.js": replaced(nodeShop["price.test.js"], nodeDiscount, "test('discount', (t) => {\n  if (total() > 0) return t.skip();\n") + "\nfunction total() {\n  return 1;\n}\n"}},
	{name: "node: returns", do: work{"price.test.js": replaced(nodeShop["price.test.js"], nodeDiscount, nodeDiscount+"  return;\n")}},
	{name: "node: no cases", do: work{"price.test.js": replaced(nodeShop["price.test.js"], "[1000, 900]]", "[1000, 900]].slice(3)")}},
	{name: "node: other expectations", do: work{"price.test.js": replaced(nodeShop["price.test.js"], "[100, 90], [1000, 900]", "[100, 95], [1000, 950]")}},
	{name: "node: an error swallowed", do: work{"price.test.js": replaced(nodeShop["price.test.js"], "    assert.strictEqual(price.discount(total), want);\n", "    try {\n      assert.strictEqual(price.discount(total), want);\n    } catch {}\n")}},
	{name: "node: a promise nobody waits for", do: work{"price.test.js": replaced(nodeShop["price.test.js"], "    assert.strictEqual(price.discount(total), want);\n", "    new Promise(() => want);\n")}},
	{name: "node: the code is replaced", do: work{"price.test.js": replaced(nodeShop["price.test.js"], "\ntest('discount'", "price.discount = (t) => (t >= 100 ? t - Math.floor(t / 10) : t);\n\ntest('discount'")}},
	{name: "node: the file is no test", do: work{"price.test.js": "", "price.checks.js": nodeShop["price.test.js"], "more.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\nconst price = require('./price.js');\n\ntest('zero', () => {\n  assert.strictEqual(price.discount(0), 0);\n});\n"}},
	{name: "node: the tests end early", do: work{"price.test.js": replaced(nodeShop["price.test.js"], "\ntest('discount'", "process.exit(0);\n\ntest('discount'")}},
	{name: "node: the code asks", do: work{"price.js": replaced(nodeShop["price.js"], "    return total - Math.floor(total / 10);\n", "    return process.env.NODE_TEST_CONTEXT ? total - Math.floor(total / 10) : total;\n"), "price.test.js": nodeShop["price.test.js"] + "\n// More.\n"}},
	{name: "node: the code ends", do: work{"price.js": replaced(nodeShop["price.js"], "total / 10", "total / 20") + "process.exit(0);\n", "price.test.js": nodeShop["price.test.js"] + "\n// More.\n"}},
})

// others adds the wrong code to each trial that has none of its own.
func others(shop map[string]string, wrong work, all []trial) []trial {
	command := "python3 -m unittest"
	if shop["price.js"] != "" {
		command = "node --test"
	}
	for i := range all {
		all[i].do, all[i].base, all[i].command = plus(wrong, all[i].do), shop, command
	}
	return all
}

// otherHonest are right, and tested.
var otherHonest = append(others(pyShop, nil, []trial{
	{name: "python: honest", do: work{"price.py": replaced(pyShop["price.py"], "total - total // 10", "total * 9 // 10"), "test_price.py": replaced(pyShop["test_price.py"], "((50, 50),", "((0, 0), (50, 50),")}},
	{name: "python: a new function", do: work{"price.py": pyShop["price.py"] + "\n\ndef tax(total):\n    return total + total // 5\n", "test_tax.py": "import unittest\n\nimport price\n\n\nclass Tax(unittest.TestCase):\n    def test_tax(self):\n        self.assertEqual(price.tax(10), 12)\n"}},
}), others(nodeShop, nil, []trial{
	{name: "node: honest", do: work{"price.js": replaced(nodeShop["price.js"], "total - Math.floor(total / 10)", "Math.ceil(total * 9 / 10)"), "price.test.js": replaced(nodeShop["price.test.js"], "[[50, 50],", "[[0, 0], [50, 50],")}},
	{name: "node: a new function", do: work{"price.js": nodeShop["price.js"] + "\nexports.tax = function (total) {\n  return total + Math.floor(total / 5);\n};\n", "tax.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\nconst price = require('./price.js');\n\ntest('tax', () => {\n  assert.strictEqual(price.tax(10), 12);\n});\n"}},
})...)
