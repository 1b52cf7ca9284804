import { chmodSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNodeOutside } from '../../src/operations/runtime/node-outside.ts'
import { loadWorkspace } from '../../src/operations/runtime/load-workspace.ts'
import { Canaries } from './canary.ts'
import { Place, token } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const password = 'pw-canary-"one"/+&<1>='
const written = encodeURIComponent(password)
const state = 'state: {store: postgres, url: "${env:DATABASE_URL}"}'
setStage()

let server: Server
let address: string

beforeEach(async () => {
  server = createServer((socket) => {
    // The startup message, then the password.
    socket.once('data', () => {
      socket.write(formatMessage('R', '\0\0\0\x03'))
      socket.once('data', (message) => {
        const given = message.subarray(5, -1).toString()
        const text = `unknown password ${given}, ${encodeURIComponent(given)} of ${address}`
        socket.end(formatMessage('E', `SERROR\0CXX000\0M${text}\0\0`))
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  address = `postgres://edgewise:${written}@127.0.0.1:${port}/cdn`
  enterPlace(new Place(emulator.url, '', { state }))
  place.env = { EDGEWISE_TOKEN: token, DATABASE_URL: address }
  place.manifest('www.example.com', { timeout: { time: 60 } })
})
afterEach(() => void server.close())

/** Formats a message of PostgreSQL's protocol. */
function formatMessage(type: string, body: string): Buffer {
  const bytes = Buffer.from(body)
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes.length + 4)
  return Buffer.concat([Buffer.from(type), length, bytes])
}

/** Runs a command, which must not show the password. */
async function runQuietly(...args: string[]) {
  const ran = await place.cli(...args)
  const canaries = new Canaries({ password })
  canaries.scanText('the output', ran.out + ran.err)
  canaries.scanTree(place.root)
  expect(canaries.found).toEqual([])
  return ran
}

describe('state in a database', () => {
  it.each(['plan', 'plan --json', 'apply --yes', 'drift -v', 'state list', 'state unlock'])(
    '%s does not show the password that the server quotes',
    async (line) => {
      const { code, out, err } = await runQuietly(...line.split(' '))
      const [, port = ''] = /:(\d+)\/cdn/.exec(address) ?? []
      expect([code, out + err]).toEqual([
        1,
        expect.stringContaining(`the state in postgres://127.0.0.1:${port}/cdn, schema edgewise`),
      ])
      expect(out + err).toContain('(password)')
    },
  )

  it('is needed by plan, and not by validate; the missing variable is named', async () => {
    for (const [value, what] of [
      [undefined, 'is not set'],
      ['', 'is empty'],
    ]) {
      place.env = { EDGEWISE_TOKEN: token, DATABASE_URL: value }
      expect((await place.cli('validate')).code).toBe(0)
      for (const line of ['plan', 'state list', 'apply --yes', 'drift']) {
        const { code, err } = await place.cli(...line.split(' '))
        expect([code, err.replace(/\s+/g, ' ')]).toEqual([
          1,
          expect.stringMatching(
            'error: no address of the database that has the state: the environment variable ' +
              `DATABASE_URL ${what} \\(edgewise.yaml:8:\\d+\\) Set it\\.`,
          ),
        ])
      }
    }
  })

  it('names those variables of its address that have no value', async () => {
    const url = 'postgres://${env:USER_NAME}:${env:A}@${env:B}/cdn'
    place.write('edgewise.yaml', place.read('edgewise.yaml').replace('${env:DATABASE_URL}', url))
    place.env = { USER_NAME: 'edgewise', A: '', B: '' }
    const { err } = await place.cli('plan')
    expect(err.replace(/\s+/g, ' ')).toContain(': the environment variables A and B are empty (')
  })

  it('does not show a password in edgewise.yaml', async () => {
    place.write('edgewise.yaml', `version: 1\nstate: {store: postgres, url: "${address}"}\n`)
    for (const line of ['validate', 'validate --json', 'plan', 'validate --format github']) {
      const { code, out, err } = await place.cli(...line.split(' '))
      expect([code, out + err]).toEqual([1, expect.stringContaining('got the password itself')])
      expect(out + err).not.toContain(written)
    }
  })
})

describe('the database of state migrate', () => {
  const migrate = (to: string) => runQuietly('state', 'migrate', '--yes', '--to', to)
  beforeEach(() => void enterPlace(new Place(emulator.url)))
  const give = (url?: string) =>
    void (place.env = { EDGEWISE_TOKEN: token, ...(url === undefined ? {} : { TARGET: url }) })

  it('keeps its password hidden', async () => {
    give(address)
    const { code, err } = await migrate('${env:TARGET}')
    expect([code, err]).toEqual([1, expect.stringContaining('(password)')])
  })

  it('has an address whose variable is set', async () => {
    give()
    const { code, err } = await migrate('${env:TARGET}')
    expect([code, err.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining('is not known: the environment variable TARGET is not set Set it'),
    ])
  })

  it('has an address whose password is not in the command', async () => {
    give()
    const { code, err } = await migrate(address)
    expect([code, err]).toEqual([1, expect.stringContaining('got the password itself')])
  })
})

describe('the program of a secret', () => {
  itLong('gets neither the variables of the database nor copies of its password', async () => {
    place.write('secret.sh', '#!/bin/sh\nenv | grep -v ^PWD | cut -d= -f1 | sort | tr "\\n" " "\n')
    chmodSync(join(place.root, 'secret.sh'), 0o755)
    const home = place.read('edgewise.yaml')
    place.write('edgewise.yaml', `${home}secrets: {s: {command: [./secret.sh]}}\n`)
    const env = {
      PATH: process.env['PATH'] ?? '',
      EDGEWISE_TOKEN: token,
      DATABASE_URL: address,
      PGPASSWORD: 'another-password',
      COPY: `the ${address}`,
      DECODED: password,
      OTHER: 'and-another-password',
      PGHOST: '127.0.0.1',
    }
    const listNames = async () => {
      const { signal } = new AbortController()
      const outside = { ...createNodeOutside(signal), env }
      const { vault } = loadWorkspace(place.root, outside, 'available')
      await vault.obtain(['s'], signal)
      return vault
        .findAll(['s'])?.[0]
        ?.split(' ')
        .filter((name) => name in env)
    }
    expect(await listNames()).toEqual(['PATH', 'PGHOST'])
    // A short password may be a part of anything.
    env.DATABASE_URL = 'postgres://edgewise:0.0@127.0.0.1/cdn'
    expect(await listNames()).toEqual(['COPY', 'DECODED', 'PATH', 'PGHOST'])
    place.write('edgewise.yaml', home.replace(state, '') + 'secrets: {s: {command: [./secret.sh]}}')
    expect(await listNames()).toEqual(
      Object.keys(env)
        .filter((name) => name !== 'EDGEWISE_TOKEN')
        .toSorted(),
    )
  })
})
