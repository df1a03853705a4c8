// A reporter of node --test: one JSON object a line, and nothing else.
import path from 'node:path';
const root = process.env.ORCH_LEDGER_ROOT || process.cwd();
const relative = (f) => (f ? path.relative(root, f).split(path.sep).join('/') : '');
export default async function* ledger(source) {
  const above = [];
  for await (const { type, data } of source) {
    if (!data) continue;
    if (type === 'test:start') {
      above.length = data.nesting;
      above[data.nesting] = data.name;
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const suite = relative(data.file);
    const whole = data.nesting === 0 && path.resolve(data.name) === path.resolve(data.file || '.');
    if (whole) {
      if (type === 'test:fail') yield JSON.stringify({ suite, broken: 'it can not be loaded, or failed outside of its tests' }) + '\n';
      continue;
    }
    const test = [...above.slice(0, data.nesting), data.name].join('/');
    const idle = data.skip !== undefined || data.todo !== undefined;
    yield JSON.stringify({ suite, test, result: idle ? 'skip' : type === 'test:pass' ? 'pass' : 'fail' }) + '\n';
  }
}
