// Writes one line for each test that Node's test runner names: which file it stands in, its name with those of the suites
// around it, and how it ended. The last line says that the run came to its end.
import assert from 'node:assert';
import Module from 'node:module';
import { fileURLToPath } from 'node:url';

// Every process of the tests loads this first. The code that is judged runs in the same process as its tests: what it
// puts in the place of an assertion is not called.
for (const of of [assert, assert.strict]) {
  for (const [name, { value, enumerable, configurable }] of Object.entries(Object.getOwnPropertyDescriptors(of))) {
    if (typeof value !== 'function' || !configurable || name === 'prototype') continue;
    Object.defineProperty(of, name, { get: () => value, set() {}, enumerable, configurable: false });
  }
}

// Nor is it asked where they come from: who has modules loaded in another way still loads these as they are.
const judging = /^(node:)?(assert(\/strict)?|test)$/;
for (const [of, part] of [[Module, '_load'], [Module.prototype, 'require']]) {
  const own = of[part];
  let now = own;
  const replace = (by) => function load(name, ...rest) {
    return (judging.test(name) ? own : by).call(this, name, ...rest);
  };
  Object.defineProperty(of, part, { get: () => now, set: (by) => { now = replace(by); }, enumerable: true, configurable: false });
}

const plainPath = (file) => (file?.startsWith('file:') ? fileURLToPath(file) : (file ?? ''));

export default async function* report(events) {
  const suites = new Map(); // per file, the names of the tests at work, from the outermost one
  for await (const { type, data } of events) {
    const file = plainPath(data?.file);
    if (type === 'test:start') {
      const open = suites.get(file) ?? [];
      open.length = data.nesting;
      open.push(data.name);
      suites.set(file, open);
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const open = (suites.get(file) ?? []).slice(0, data.nesting);
    const ofFile = data.nesting === 0 && plainPath(data.name) === file;
    if (ofFile || data.details?.type === 'suite') {
      yield JSON.stringify({ event: 'file', file }) + '\n';
      continue;
    }
    let end = type === 'test:pass' ? 'passed' : 'failed';
    if (data.skip !== undefined && data.skip !== false) end = 'skipped';
    else if (end === 'failed' && data.todo !== undefined && data.todo !== false) end = 'excused';
    const error = data.details?.error?.cause ?? data.details?.error;
    const why = end === 'failed' ? String(error?.stack ?? error?.message ?? error ?? '').split('\n    at ')[0] : undefined;
    yield JSON.stringify({ event: 'end', file, test: [...open, data.name].join(' > '), end, why }) + '\n';
  }
  yield JSON.stringify({ event: 'done' }) + '\n';
}
