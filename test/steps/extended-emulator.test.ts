import { describe, expect, it } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { run } from '../../src/cli/program.ts'
import { createNodeOutside } from '../../src/operations/node-outside.ts'

/** Runs `edgewise emulator` while `work` calls it. */
async function emulate(
  args: string[],
  work: (url: string) => Promise<void>,
): Promise<{ code: number; out: string; err: string }> {
  const ran = { code: 0, out: '', err: '' }
  const io: Io = {
    ...createNodeOutside(new AbortController().signal),
    cwd: '.',
    env: {},
    out: (text) => void (ran.out += text),
    err: (text) => void (ran.err += text),
    columns: 80,
    errColumns: 80,
    outIsTerminal: false,
    errIsTerminal: false,
    openStdin: null,
    ask: null,
    prompt: null,
    waitForStop: () => work(/http:\S+/.exec(ran.out)?.[0] ?? ''),
  }
  ran.code = await run(['emulator', ...args], io)
  return ran
}

describe('edgewise emulator --extended', () => {
  it.each([
    [[], 404, null],
    [['--lenient'], 404, null],
    [['--extended'], 200, 'serving'],
    [['--extended', '--deploy-seconds', '3600'], 200, 'deploying'],
  ])('%j answers calls beyond the specification with HTTP %i', async (args, status, deployed) => {
    const seen: unknown[] = []
    const ran = await emulate(args, async (url) => {
      const query = 'token=any&domains=www.example.com'
      const config = { timeout: { time: '60' } }
      await fetch(`${url}/v2/domain/config?token=any`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ domains: 'www.example.com', config }),
      })
      const read = await fetch(`${url}/v2/domain/config?${query}`)
      const record = (await (await fetch(`${url}/v2/domain?${query}`)).json()) as {
        data?: { status: string }[]
      }
      seen.push(read.status, record.data?.[0]?.status ?? null)
    })
    expect([ran.code, ...seen]).toEqual([0, status, deployed])
  })

  it('is needed for --deploy-seconds', async () => {
    const ran = await emulate(['--deploy-seconds', '1'], async () => {})
    expect([ran.code, ran.out]).toEqual([1, ''])
    expect(ran.err).toContain('--deploy-seconds needs --extended')
  })
})
