import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { build } from 'esbuild'
import { createMutationPlugin, type Mutation } from './mutation.ts'
import type { SeedResult, SeedRange } from './seeds.ts'
import type { StoreKind } from './state-world.ts'

export interface SeedRun {
  from: number
  count: number
  /** Kind of the store of all of them; absent: each seed determines its own. */
  store?: StoreKind
  /** Mutation of the product. */
  mutation?: Mutation
  /** End with the first seed that breaks a law. */
  untilBroken?: boolean
  /** Called after every seed. */
  report?(result: SeedResult): void
}

/**
 * Simulates many seeds on all processors, with the product bundled once; returns those that broke a
 * law, by seed.
 */
export async function runSeeds(run: SeedRun): Promise<SeedResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-simulation-'))
  try {
    const program = join(folder, 'seeds.mjs')
    await bundle(program, run.mutation)
    const broken: SeedResult[] = []
    const lanes = Math.min(run.count, availableParallelism())
    const workers: Worker[] = []
    const take = (result: SeedResult) => {
      run.report?.(result)
      if (result.violations.length === 0) return
      broken.push(result)
      if (run.untilBroken === true) for (const worker of workers) void worker.terminate()
    }
    await Promise.all(
      Array.from({ length: lanes }, (_, lane) => {
        const { from, count, store } = run
        const seeds: SeedRange = { from: from + lane, step: lanes, end: from + count, store }
        return finished(new Worker(program, { workerData: seeds }), workers, take)
      }),
    )
    return broken.toSorted((a, b) => a.seed - b.seed)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function finished(
  worker: Worker,
  workers: Worker[],
  take: (result: SeedResult) => void,
): Promise<void> {
  workers.push(worker)
  return new Promise((resolve, reject) => {
    worker.on('message', take)
    worker.on('error', reject)
    worker.on('exit', () => resolve())
  })
}

async function bundle(program: string, mutation?: Mutation): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(new URL('seeds.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Finding a mutation needs no positions, and they double the time of its bundle.
    sourcemap: mutation === undefined ? 'inline' : false,
    banner: {
      js:
        "import { createRequire as __createRequire } from 'node:module'; " +
        'const require = __createRequire(import.meta.url);',
    },
    plugins: mutation === undefined ? [] : [createMutationPlugin(mutation)],
    logLevel: 'error',
  })
}
