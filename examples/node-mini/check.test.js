const assert = require('assert')
const months = require('./lib/months.json')

assert.deepStrictEqual(months, ['January', 'February', 'March'])
