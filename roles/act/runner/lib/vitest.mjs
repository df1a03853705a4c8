// A reporter of vitest: one JSON object a line, and nothing else.
import fs from 'node:fs';
import path from 'node:path';
const out = process.env.ORCH_LEDGER_OUT;
const root = process.env.ORCH_LEDGER_ROOT || process.cwd();
const say = (what) => {
  try {
    fs.appendFileSync(out, what ? JSON.stringify(what) + '\n' : '');
  } catch {}
};
const walk = (suite, tasks, above) => {
  for (const t of tasks || []) {
    const name = [...above, t.name];
    if (t.type === 'suite') {
      walk(suite, t.tasks, name);
      continue;
    }
    const state = t.result && t.result.state;
    say({ suite, test: name.join('/'), result: state === 'pass' ? 'pass' : state === 'fail' ? 'fail' : 'skip' });
  }
};
export default class {
  onInit() {
    say();
  }
  onFinished(files) {
    for (const f of files || []) {
      const suite = path.relative(fs.realpathSync(root), fs.realpathSync(f.filepath)).split(path.sep).join('/');
      if (f.result && f.result.state === 'fail' && !(f.tasks || []).length) say({ suite, broken: 'it can not be loaded' });
      walk(suite, f.tasks, []);
    }
  }
}
