// Makes lib/months.json of months.txt.
const fs = require('fs')
fs.mkdirSync('lib', { recursive: true })
const names = fs.readFileSync('months.txt', 'utf8').trim().split('\n')
fs.writeFileSync('lib/months.json', JSON.stringify(names) + '\n')
