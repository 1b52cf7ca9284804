// @module-tag often
// @module-tag nightly
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { describe, it } from 'vitest'
import type { StoreName } from '../../src/core/model/config.ts'
import { storeRows } from '../../src/core/model/stores.ts'
import type { Fault } from '../../src/emulator/entities/fault.ts'
import { RealRuns } from '../long/real-runs.ts'
import { TestSchema } from '../state/test-schema.ts'
import {
  isolateCombination,
  knownDomains,
  leaveOutUnknown,
  refused,
} from '../stories/refused-parts.ts'

const settings: Record<StoreName, string> = {
  dir: 'state: {store: dir, path: .edgewise/state}',
  git: '',
  postgres: '',
}
const rate = ['--calls-per-minute', '0']

/** Runs a story with the built program and its state in a store. */
async function runWith(
  store: StoreName,
  emulatorOptions: (string | Fault)[],
  story: (real: RealRuns, state: string) => Promise<void>,
): Promise<void> {
  const schema = store === 'postgres' ? await TestSchema.make() : null
  const database = schema?.configure((url) => url.searchParams.delete('application_name'))
  const real = await RealRuns.start([...rate, ...emulatorOptions], database)
  try {
    await story(real, settings[store])
  } finally {
    real.end()
    await schema?.remove()
  }
}

describe.each(storeRows.map(([name]) => name))('with state in %s', (store) => {
  const { domain, item } = refused
  it.each(store === 'dir' ? [true, false] : [false])(
    'one refused item of one domain is isolated, named: %s',
    (named) => runWith(store, [{ kind: 'refuse', domain, item, named }], isolateCombination),
  )

  it('an unknown domain is left out of the later writes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgewise-known-'))
    try {
      const file = join(folder, 'domains')
      writeFileSync(file, `${knownDomains.join('\n')}\n`)
      await runWith(store, ['--domains', file], leaveOutUnknown)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
