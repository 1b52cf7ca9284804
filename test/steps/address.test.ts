// @module-tag often
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { fetchCalls, Place, type CommandResult } from './cli.ts'
import { commandLines } from './command-lines.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'

setStage()
beforeEach(() => {
  enterPlace(new Place('emulator').manifest('www.example.com', { timeout: { time: 60 } }))
})

const workspace = (url: string, more = '') =>
  place.write('edgewise.yaml', `version: 1\nservice:\n  url: ${url}\nstate: {store: dir}\n${more}`)

/** Command lines that load a workspace, including those that never call the service. */
const lines = commandLines.filter(({ needsNone }) => needsNone !== true).map(({ line }) => line)

/**
 * Runs all command lines: each fails, prints none of the hidden texts, and leaves no file behind.
 */
async function refused(...hidden: string[]): Promise<CommandResult[]> {
  const before = readdirSync(place.root, { recursive: true, encoding: 'utf8' }).toSorted()
  const ran: CommandResult[] = []
  for (const line of lines) {
    const each = await place.cli(...line)
    expect([line, each.code]).toEqual([line, 1])
    for (const text of hidden) {
      const shown = `${each.out}${each.err}`.toLowerCase().includes(text.toLowerCase())
      expect([line, text, shown]).toEqual([line, text, false])
    }
    ran.push(each)
  }
  expect(readdirSync(place.root, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual(before)
  return ran
}

describe('plain http', () => {
  it('to another machine is an error with its line for every command', async () => {
    workspace('http://api.example.net')
    for (const token of ['tok-of-the-tests', undefined]) {
      place.env = { EDGEWISE_TOKEN: token }
      const [validated, asJson] = await refused()
      expect(validated?.out).toContain('edgewise.yaml:3:8')
      expect(validated?.out).toContain('allowHttp')
      const { diagnostics } = JSON.parse(asJson?.out ?? '') as { diagnostics: object[] }
      expect(diagnostics).toMatchObject([
        {
          severity: 'error',
          code: 'workspace-invalid',
          file: 'edgewise.yaml',
          line: 3,
          column: 8,
          pointer: '/service/url',
        },
      ])
    }
  })

  it('is allowed with allowHttp, and on this machine', async () => {
    workspace('http://api.example.net\n  allowHttp: true')
    expect(await place.cli('plan')).toMatchObject({ code: 0 })
    workspace('http://localhost:8080')
    expect(await place.cli('plan')).toMatchObject({ code: 0 })
  })
})

describe('a service address that contains a secret', () => {
  it.each([
    'https://user:hunter2hunter2@api.example.net',
    'https://hunter2hunter2@api.example.net',
    'https://api.example.net/?key=hunter2hunter2',
    'https://api.example.net/#hunter2hunter2',
  ])(
    'as user info, query or fragment (%s) is an error that does not show the secret',
    async (url) => {
      workspace(JSON.stringify(url))
      const [validated] = await refused('hunter2', 'api.example.net')
      expect(validated?.out).toContain('edgewise.yaml:3:8')
      workspace('${env:ADDRESS}')
      place.env['ADDRESS'] = url
      await refused('hunter2', 'api.example.net')
    },
  )

  it('is an error for the token from the environment', async () => {
    place.env = { EDGEWISE_TOKEN: 'hunter2/hunter2' }
    workspace('https://api.example.net/${env:EDGEWISE_TOKEN}')
    const [validated] = await refused('hunter2', 'api.example.net')
    expect(validated?.out).toContain('holds the token, which only')
    workspace('https://api.example.net/hunter2%2Fhunter2')
    await refused('hunter2', 'api.example.net')
  })

  it('is an error for an unreferenced secret from the environment or a file', async () => {
    place.env['PASSWORD'] = 'Hunter2!'
    const file = join(place.root, 'password.txt')
    writeFileSync(file, 'Hunter2!\n')
    for (const source of ['{env: PASSWORD}', `{file: ${file}}`, '{file: password.txt}']) {
      for (const url of [
        'https://hunter2%21.example.net',
        'https://api.example.net/x/Hunter2%21/',
        'https://api.example.net/hunter2!',
      ]) {
        workspace(url, `secrets: {password: ${source}}\n`)
        const [validated] = await refused('hunter2', 'api.example.net')
        expect(validated?.out).toContain('contains the secret "password"')
      }
    }
    workspace(
      'https://api.example.net',
      'secrets: {password: {env: PASSWORD}, other: {env: NONE}, gone: {file: /nowhere/x}}\n',
    )
    expect(await place.cli('plan')).toMatchObject({ code: 0 })
  })

  it('is an error in the address of a receiver; so is the token as a secret', async () => {
    place.env = { EDGEWISE_TOKEN: 'tok-hunter2', STAGE: 'x/hunter3' }
    const receiver =
      'notify: [{kind: slack, url: "https://a.example.net/${env:STAGE}", on: [drift]}]\n'
    place.write('a.txt', 'hunter3\n')
    workspace('emulator', `secrets: {a: {file: a.txt}}\n${receiver}`)
    const [validated] = await refused('hunter3', 'a.example.net')
    expect(validated?.out).toMatch(
      /:6:29 [^]*the value of "notify\[0\]\.url" \(from "STAGE"\)\s+contains the secret "a"/,
    )
    place.write('a.txt', 'Bearer tok-hunter2\n')
    const [second] = await refused('hunter2', 'a.example.net')
    expect(second?.out).toContain('the value of "secrets.a" contains the token')
  })

  it('is checked against secret files that can be read at once, and no others', async () => {
    workspace(
      'https://api.example.net',
      'secrets: {folder: {file: domains}, endless: {file: /dev/zero}}\n',
    )
    expect(await place.cli('validate')).toMatchObject({ code: 0 })
  })
})

describe('a secret printed by a command', () => {
  it('is checked against the address before anything is sent or recorded', async () => {
    place.manifest('www.example.com', {
      visit_timestamp: {
        pattern: '.*',
        time_format: 'timestamp',
        key: '${secret:signing}',
        deadtime: 1800,
        req_uri_type: 1,
      },
    })
    const ran = join(place.root, 'ran')
    const script =
      `require("node:fs").writeFileSync(${JSON.stringify(ran)}, ""); ` +
      'console.log("hunter2-hunter2")'
    place.write('print.cjs', script)
    const source = `secrets: {signing: {command: [${process.execPath}, print.cjs]}}\n`
    workspace(`${emulator.url}/cdn/hunter2-hunter2`, source)
    expect((await place.cli('validate')).code).toBe(0)
    expect((await place.cli('plan')).code).toBe(0)
    expect(existsSync(ran)).toBe(false)
    const { code, out } = await place.cli('apply', '--yes', '--json')
    expect([code, existsSync(ran)]).toEqual([1, true])
    expect(JSON.parse(out)).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('the value of "service.url" contains a secret') as string,
    })
    expect(out).not.toContain('hunter2')
    const stored = join(place.root, '.edgewise')
    // The lock is acquired before the command runs, in a folder named after the address as written.
    for (const path of readdirSync(stored, { recursive: true, encoding: 'utf8' })) {
      expect(path.replace(/^state\/lock(\/[^/]*)?/, '')).not.toContain('hunter2')
      if (statSync(join(stored, path)).isFile())
        expect(readFileSync(join(stored, path), 'utf8')).not.toContain('hunter2')
    }
    expect(await fetchCalls(emulator)).toEqual([])
  })

  it('is checked again before a rollback connects, which may load more secrets', async () => {
    const visit = { pattern: '.*', time_format: 'timestamp', deadtime: 1800, req_uri_type: 1 }
    const source = `secrets: {signing: {command: [${process.execPath}, print.cjs]}}\n`
    workspace(
      emulator.url.replace('127.0.0.1', 'localhost'),
      `${source}allowLiteralSecrets: true\n`,
    )
    const manifest = (key: string, time: number) =>
      place.manifest('www.example.com', { visit_timestamp: { ...visit, key }, timeout: { time } })
    place.write('print.cjs', 'console.log("signing-value")')
    await manifest('${secret:signing}', 60).settle()
    await manifest('written-out', 61).settle()
    const before = (await fetchCalls(emulator)).length
    place.write('print.cjs', 'console.log("localhost")')
    const { code, out, err } = await place.cli('rollback', '--yes')
    expect([code, `${out}${err}`]).toEqual([
      1,
      expect.stringContaining('the value of "service.url" contains a secret'),
    ])
    expect(await fetchCalls(emulator)).toHaveLength(before)
  })
})

describe('proxies', () => {
  it('are not used by an apply to this machine over http', async () => {
    workspace(emulator.url)
    // No server listens on this address.
    place.env = {
      ...place.env,
      HTTP_PROXY: 'http://127.0.0.1:9',
      http_proxy: 'http://127.0.0.1:9',
    }
    expect(await place.cli('apply', '--yes')).toMatchObject({ code: 0 })
    expect((await fetchCalls(emulator)).map(({ path }) => path)).toEqual(['/v2/domain/config'])
  })
})
