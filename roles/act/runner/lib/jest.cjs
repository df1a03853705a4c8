// A reporter of jest: one JSON object a line, and nothing else.
const fs = require('node:fs');
const path = require('node:path');
const out = process.env.ORCH_LEDGER_OUT;
const root = process.env.ORCH_LEDGER_ROOT || process.cwd();
const results = { passed: 'pass', failed: 'fail', pending: 'skip', skipped: 'skip', todo: 'skip', disabled: 'skip' };
module.exports = class {
  say(what) {
    try {
      fs.appendFileSync(out, what ? JSON.stringify(what) + '\n' : '');
    } catch {}
  }
  onRunStart() {
    this.say();
  }
  onTestResult(_, file) {
    const suite = path.relative(fs.realpathSync(root), fs.realpathSync(file.testFilePath)).split(path.sep).join('/');
    if (file.testExecError) this.say({ suite, broken: 'it can not be loaded, or failed outside of its tests' });
    for (const t of file.testResults) this.say({ suite, test: [...t.ancestorTitles, t.title].join('/'), result: results[t.status] });
  }
};
