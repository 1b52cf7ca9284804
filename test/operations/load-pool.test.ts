// @module-tag often
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadDocuments } from '../../src/manifest/manifests/load-documents.ts'
import { loadWorkspace } from '../../src/manifest/manifests/load-workspace.ts'
import type { Workspace } from '../../src/manifest/workspace-file/workspace.ts'
import type { Parallel } from '../../src/core/model/parallel.ts'
import { createWorkerPool } from '../../src/operations/runtime/worker-pool.ts'
import { createFolder, plainKeeper } from '../manifest/test-workspace.ts'
import { itLong } from '../runs.ts'

const builtWorker = new URL('../../dist/runtime/worker.cjs', import.meta.url)

/** Files with a problem, or with several documents. */
const special: Record<string, string> = {
  'profiles/base.yaml': 'profile: base\nconfig: {timeout: {time: 0}}\n',
  'domains/alias.yaml':
    'domain: alias.example.com\nconfig:\n  a: &a [1]\n' + '  b: ['.concat('*a, '.repeat(60), ']'),
  'domains/deep.yaml': `domain: deep.example.com\nconfig: ${'['.repeat(300)}`,
  'domains/duplicate.yaml': 'domain: d7.example.com\nconfig: {}\n',
  'domains/empty.yaml': '# nothing\n',
  'domains/key.yaml': 'domain: key.example.com\ndomain: key.example.com\n',
  'domains/levels.yaml': `domain: e.example.com\nconfig: ${'['.repeat(70)}${']'.repeat(70)}\n`,
  'domains/number.yaml': 'domain: number.example.com\nconfig: {timeout: {time: 1e400}}\n',
  'domains/several.yaml':
    'domain: x.example.com\nconfig: {}\n---\ndomain: x.example.com\nconfig:\n',
  'domains/text.yaml':
    'domain: text.example.com\nconfig: {origin_host: {host: "ü\\u2028 \\"€\\""}}',
}

/** Creates a folder with the special files, and those of some more domains. */
function writeFleet(domains: number): string {
  const config = 'profiles: [base]\nconfig: {origin_host: {host: o.example}}\n'
  const plain = Array.from({ length: domains }, (_, i) => [
    `domains/d${i}.yaml`,
    `domain: d${i}.example.com\n${i % 20 === 0 ? config : 'config: {}\n'}`,
  ])
  const root = createFolder({ ...Object.fromEntries(plain), ...special })
  writeFileSync(join(root, 'domains/utf16.yaml'), 'domain: a.example.com', 'utf16le')
  return root
}

/** Runs a function with a pool of threads, and ends them. */
async function withThreads(
  threads: number,
  run: (parallel: Parallel) => unknown,
  file = builtWorker,
): Promise<string> {
  const pool = createWorkerPool(threads, file, 50)
  try {
    return JSON.stringify(run(pool))
  } finally {
    await pool.end()
  }
}

function describeWorkspace(workspace: Workspace): object {
  const { desired, diagnostics, files, findItemPlace, findSourceLine } = workspace
  return {
    desired: [...desired].map(([domain, items]) => [domain, [...items]]),
    diagnostics,
    files: files.map((file) => ({ ...file, uses: [...file.uses] })),
    places: [...desired.keys()].map((domain) => findItemPlace(domain, 'origin_host', '/host')),
    lines: diagnostics.map(findSourceLine),
  }
}

describe('a large fleet', () => {
  it('has the same documents and diagnostics with a thread', async () => {
    const root = writeFleet(8)
    const files = [...Object.keys(special), 'domains/utf16.yaml', 'domains/missing.yaml']
    const paths = Array.from({ length: 3_000 }, (_, i) => files[i / 50] ?? `domains/d${i % 8}.yaml`)
    const progress: number[] = []
    const load = (parallel: Parallel) =>
      loadDocuments(root, paths, parallel, (made, all) => progress.push(made / all))
    const loaded = await withThreads(1, load)
    const alone = new Map([...new Set(paths)].map((path) => [path, loadDocuments(root, [path])]))
    expect(loaded).toBe(JSON.stringify(paths.flatMap((path) => alone.get(path))))
    expect(progress.at(-1)).toBe(1)
    expect(progress.toSorted((a, b) => a - b)).toEqual(progress)
  })

  itLong('is loaded alike with any number of threads, and without a worker', async () => {
    const root = writeFleet(3_000)
    const load = (parallel: Parallel) =>
      describeWorkspace(loadWorkspace(root, {}, () => plainKeeper, [], { parallel }))
    const loaded = await withThreads(0, load)
    for (const threads of [1, 2, 8]) expect(await withThreads(threads, load)).toBe(loaded)
    expect(await withThreads(1, load, pathToFileURL(join(root, 'worker.js')))).toBe(loaded)
  })
})
