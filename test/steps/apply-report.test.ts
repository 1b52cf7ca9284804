import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { fetchWrites, setFaults } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

setStage()
beforeEach(() => setFaults(emulator))

const apply = (...args: string[]) => place.cli('apply', '--yes', '--report', 'apply.md', ...args)
const report = () => place.read('apply.md')

describe('apply --report', () => {
  it('reports a confirmed apply, and one without changes', async () => {
    place.manifest('www.example.com', { timeout: { time: 60 } })
    expect((await apply()).code).toBe(0)
    expect(report().replace(/`[0-9a-f]{64}`/, 'HASH')).toMatch(
      /^### Edgewise apply\n\nApplied; writes: 1 confirmed\.\n\nHistory: HASH\n\n#### Planned\n/,
    )
    expect((await apply()).code).toBe(0)
    expect(report()).toBe('### Edgewise apply\n\nNo changes.\n')
  })

  it('reports an apply with exit code 3: what was refused, and where it is declared', async () => {
    place.manifest('www.example.com', { timeout: { time: 60 } })
    place.manifest('api.example.com', { timeout: { time: 61 } })
    await setFaults(emulator, { kind: 'refuse', domain: 'www.example.com', probability: 1 })
    expect((await apply()).code).toBe(3)
    expect(report()).toMatch(/^### Edgewise apply\n\nNot everything was applied; writes: 1 conf/)
    expect(report()).toMatch(
      /#### Refused\n\n```text\nwrite \d: timeout of www\.example\.com \(domains\/w.*:1\)\n {4}\S/,
    )
  })

  it('reports an apply that is refused before its first call', async () => {
    place.manifest('www.example.com', { https: { cert_id: 0 } })
    expect((await apply()).code).toBe(1)
    expect(report()).toMatch(/^### Edgewise apply\n\nNothing was applied\.\n\n```text\n.*https/)
    expect(report()).toContain('#### Planned')
    expect(report()).toMatch(/not begun +1 {2}www\.example\.com: https/)
  })

  it('replaces an earlier report before anything is sent', async () => {
    place.manifest('www.example.com', { timeout: { time: 60 } }).write('apply.md', 'earlier')
    let meanwhile = ''
    place.onStderr = () => (meanwhile ||= report())
    await setFaults(emulator, { kind: 'error', probability: 1 })
    expect((await apply()).code).toBe(3)
    place.onStderr = null
    expect(meanwhile).toContain('The apply has not ended')
  })

  it('sends nothing if the report cannot be written', async () => {
    place.manifest('www.example.com', { timeout: { time: 60 } })
    const { code, err } = await place.cli('apply', '--yes', '--report', 'no/folder/apply.md')
    expect([code, err]).toEqual([1, expect.stringContaining("can't be written (ENOENT)")])
    expect(existsSync(join(place.root, 'no'))).toBe(false)
    expect(await fetchWrites(emulator)).toEqual([])
  })
})
