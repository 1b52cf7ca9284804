import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { run } from '../../src/cli/program.ts'
import { createNodeOutside } from '../../src/operations/runtime/node-outside.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-emulator-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Runs `edgewise emulator` while `work` calls it. */
async function emulate(
  args: string[],
  { env = {}, work = async () => {} }: EmulateOptions = {},
): Promise<{ code: number; out: string; err: string }> {
  const ran = { code: 0, out: '', err: '' }
  const io: Io = {
    ...createNodeOutside(new AbortController().signal),
    cwd: folder,
    env,
    out: (text) => void (ran.out += text),
    err: (text) => void (ran.err += text),
    columns: 80,
    errColumns: 80,
    outIsTerminal: false,
    errIsTerminal: false,
    openStdin: null,
    ask: null,
    waitForStop: () => work(/http:\S+/.exec(ran.out)?.[0] ?? ''),
  }
  ran.code = await run(['emulator', ...args], io)
  return ran
}
interface EmulateOptions {
  env?: Record<string, string>
  work?: (url: string) => Promise<void>
}

/** Returns the HTTP status of a query with a token. */
async function query(url: string, token: string): Promise<number> {
  const answer = await fetch(`${url}/v2/cache/prefetch?token=${token}&task_id=1`)
  return answer.status
}

const other = { EDGEWISE_EMULATOR_TOKEN: 'another' }

describe('the token of the emulator', () => {
  it.each<[string, string[], Record<string, string>]>([
    ['a file', ['--token-file', 'token'], {}],
    ['the environment', [], { EDGEWISE_EMULATOR_TOKEN: 'sesame-3f9' }],
    ['a file rather than the environment', ['--token-file', 'token'], other],
    ['the command line', ['--token', 'sesame-3f9'], other],
  ])('comes from %s, and is not printed', async (_, args, env) => {
    writeFileSync(join(folder, 'token'), 'sesame-3f9\r\n')
    const seen: number[] = []
    const ran = await emulate(args, {
      env,
      work: async (url) => {
        for (const token of ['sesame-3f9', 'other', 'sesame-3f9%0A'])
          seen.push(await query(url, token))
      },
    })
    expect([ran.code, seen]).toEqual([0, [200, 401, 401]])
    expect(ran.out + ran.err).not.toContain('sesame')
  })

  it('lets the emulator listen for other machines', async () => {
    const args = ['--host', '0.0.0.0']
    expect(await emulate(args)).toMatchObject({
      code: 1,
      err: expect.stringContaining('EDGEWISE_EMULATOR_TOKEN') as string,
    })
    writeFileSync(join(folder, 'token'), 'sesame')
    for (const [more, env] of [
      [['--token-file', 'token'], {}],
      [[], { EDGEWISE_EMULATOR_TOKEN: 'sesame' }],
    ] as const)
      expect(await emulate([...args, ...more], { env })).toMatchObject({ code: 0 })
  })

  it.each<[string, string[], string]>([
    ['an empty file', ['--token-file', 'empty'], 'empty'],
    ['a file of two lines', ['--token-file', 'lines'], 'one line'],
    ['a missing file', ['--token-file', 'none'], 'none'],
    ['an empty one', ['--token', ''], 'empty'],
    ['two sources', ['--token', 'a', '--token-file', 'empty'], '--token-file'],
  ])('is refused as %s', async (_, args, word) => {
    writeFileSync(join(folder, 'empty'), '\n')
    writeFileSync(join(folder, 'lines'), 'sesame-a\nsesame-b\n')
    const { code, out, err } = await emulate(args)
    expect([code, out, err]).toEqual([1, '', expect.stringContaining(word)])
    expect(err).not.toContain('sesame')
  })
})

describe('the control surface of the emulator', () => {
  const look = async (url: string) => (await fetch(`${url}/_emulator/state`)).status

  it.each<[string[], number]>([
    [[], 200],
    [['--control', 'on'], 200],
    [['--control', 'off'], 404],
    [['--host', '127.9.9.9', '--control', 'on'], 200],
    [['--host', '0.0.0.0', '--token', 'tok'], 404],
    [['--host', '0.0.0.0', '--token', 'tok', '--control', 'off'], 404],
  ])('with %j answers %i', async (args, expected) => {
    const seen: number[] = []
    const work = async (url: string) => void seen.push(await look(url))
    expect([(await emulate(args, { work })).code, seen]).toEqual([0, [expected]])
  })

  it('is an error on other than loopback', async () => {
    const { code, out, err } = await emulate([
      '--host',
      '0.0.0.0',
      '--token',
      'tok',
      '--control',
      'on',
    ])
    expect([code, out, err]).toEqual([1, '', expect.stringContaining('--control off')])
  })
})

describe('the wire names of the emulator', () => {
  const keys = (...pairs: string[]) => pairs.flatMap((pair) => ['--item-keys', pair])

  it('are those of --item-keys', async () => {
    const answers: unknown[] = []
    const shared = 'error_bcache=cache_error_code'
    const pairs = ['vendor_origin_auth=acme_auth', 'deny_protocol=deny_scheme', shared]
    const ran = await emulate(keys(...pairs), {
      work: async (url) => {
        const config = {
          acme_auth: { auth_url: 'http://auth.example.com' },
          deny_scheme: { protocol: 'http' },
        }
        const body = JSON.stringify({ token: 'any', domains: 'a.example.com', config })
        const headers = { 'Content-Type': 'application/json' }
        const written = await fetch(`${url}/v2/domain/config`, { method: 'POST', headers, body })
        answers.push(written.status)
        answers.push(await (await fetch(`${url}/_emulator/state`)).json())
      },
    })
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('Send writes to')])
    expect(answers).toEqual([
      200,
      {
        domains: {
          'a.example.com': {
            vendor_origin_auth: expect.objectContaining({ auth_url: 'http://auth.example.com' }),
            deny_protocol: { protocol: 'http' },
          },
        },
      },
    ])
  })

  it.each([
    [['deny_protocol'], 'expected --item-keys to be ITEM=NAME, got "deny_protocol"'],
    [['=x'], 'expected --item-keys to be ITEM=NAME, got "=x"'],
    [['deny_protocol='], 'letters, digits, ".", "_" and "-", got ""'],
    [['deny_protocol=a b'], 'letters, digits, ".", "_" and "-", got "a b"'],
    [['deny_protocl=x'], 'there is no item "deny_protocl". Did you mean "deny_protocol"?'],
    [['deny_protocol=https'], '"https" is the name of another item'],
    [['deny_protocol=x', 'error_bcache=x'], 'the name "x" is already used for "deny_protocol"'],
    [['deny_protocol=x', 'deny_protocol=y'], 'the item "deny_protocol" has two names'],
    [['deny_protocol=token'], 'the name "token" is reserved: a call has other data under it'],
    [['deny_protocol=toString'], 'reserved: it is a built-in property of JavaScript objects'],
    [['__proto__=x'], 'there is no item "__proto__"'],
  ])('%j are refused', async (pairs, message) => {
    const { code, out, err } = await emulate(keys(...pairs))
    expect([code, out]).toEqual([1, ''])
    expect(err.replaceAll(/\s+/g, ' ')).toContain(message)
  })
})

describe('edgewise emulator --extended', () => {
  it.each([
    [[], 404, null],
    [['--lenient'], 404, null],
    [['--extended'], 200, 'serving'],
    [['--extended', '--deploy-seconds', '3600'], 200, 'deploying'],
  ])('%j answers calls beyond the specification with HTTP %i', async (args, status, deployed) => {
    const seen: unknown[] = []
    const ran = await emulate(args, {
      work: async (url) => {
        const selected = 'token=any&domains=www.example.com'
        const config = { timeout: { time: '60' } }
        await fetch(`${url}/v2/domain/config?token=any`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ domains: 'www.example.com', config }),
        })
        const read = await fetch(`${url}/v2/domain/config?${selected}`)
        const record = (await (await fetch(`${url}/v2/domain?${selected}`)).json()) as {
          data?: { status: string }[]
        }
        seen.push(read.status, record.data?.[0]?.status ?? null)
      },
    })
    expect([ran.code, ...seen]).toEqual([0, status, deployed])
  })

  it('is needed for --deploy-seconds', async () => {
    const ran = await emulate(['--deploy-seconds', '1'])
    expect([ran.code, ran.out]).toEqual([1, ''])
    expect(ran.err).toContain('--deploy-seconds needs --extended')
  })
})
