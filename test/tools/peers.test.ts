// @module-tag nightly
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Row } from '../../tools/bench/row.ts'
import { findProvider } from '../../tools/bench/terraform.ts'
import { itLong } from '../runs.ts'

const bench = fileURLToPath(new URL('../../tools/bench.ts', import.meta.url))

/** Behaves like Terraform with a provider that sends a call for each domain. */
const terraform = `#!/usr/bin/env node
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { TF_CLI_CONFIG_FILE, TF_VAR_endpoint, TF_VAR_token, TF_VAR_domains } = process.env
const config = readFileSync(TF_CLI_CONFIG_FILE, 'utf8')
const overrides = /dev_overrides \\{\\s+"acme\\/edge" = "(.+)"/.exec(config)[1]
if (!existsSync(overrides + '/terraform-provider-edge')) throw new Error('no provider')
const [command, option] = process.argv.slice(2)
const time = /time = (\\d+)/.exec(readFileSync('main.tf', 'utf8'))[1]
const saved = existsSync('state') ? readFileSync('state', 'utf8') : ''
const send = async (method, domains, config) => {
  const url = TF_VAR_endpoint + '/v2/domain/config?token=' + TF_VAR_token
  const headers = { 'Content-Type': 'application/json' }
  const body = config && JSON.stringify({ domains, config })
  const answer = await fetch(config ? url : url + '&domains=' + domains, { method, headers, body })
  if ((await answer.json()).code !== 0) throw new Error('refused')
}
void (async () => {
  for (const domain of JSON.parse(TF_VAR_domains)) {
    if (saved !== '' && option !== '-refresh=false') await send('GET', domain)
    if (command === 'apply') await send('POST', domain, { timeout: { time } })
    if (command === 'destroy') await send('DELETE', domain, ['timeout'])
  }
  if (command === 'apply') writeFileSync('state', time)
  console.log(time === saved ? 'No changes.' : 'Changes.')
})()
`
type Result = { code: number; rows: Row[]; err: string }

const given = { VENDOR_PROVIDER: 'terraform-provider-edge', VENDOR_MODULE: 'module' }

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'peers-'))
  write('bin/terraform', terraform)
  write('terraform-provider-edge', 'the program')
  write('module/create/main.tf', 'edge = { source = "acme/edge" }\ntime = 60\n')
  write('module/change/main.tf', 'time = 61\n')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text, { mode: 0o755 })
}

/** Makes absolute the paths of variables, except empty ones. */
function place(paths: Record<string, string>): Record<string, string> {
  const entries = Object.entries(paths).map(([name, path]) => [name, path && join(folder, path)])
  return Object.fromEntries(entries) as Record<string, string>
}

/** Measures two domains, and returns rows only of the calls. */
function measure(paths: Record<string, string>): Promise<Result> {
  const PATH = `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`
  const args = ['--import', 'tsx', bench, '--only', 'peers', '--domains', '2', '--json']
  const none = { VENDOR_PROVIDER: '', VENDOR_MODULE: '', TERRAFORM: undefined }
  const env = { ...process.env, PATH, ...none, ...place(paths) }
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (error, out, err) => {
      const { rows } = out === '' ? { rows: [] } : (JSON.parse(out) as { rows: Row[] })
      const calls = rows.filter(({ what }) => what.endsWith('2 domains: calls'))
      resolve({ code: error === null ? 0 : Number(error.code), rows: calls, err })
    })
  })
}

itLong('the study of peers has the figures of a provider beside ours', async () => {
  const [alone, beside] = [await measure({}), await measure(given)]
  expect([alone.code, alone.err]).toEqual([0, expect.stringContaining('set VENDOR_PROVIDER')])
  expect(alone.rows.map(({ measured }) => measured)).toEqual([2, 0, 1, 2, 2])
  expect(alone.rows.every(({ base }) => base === null)).toBe(true)
  expect([beside.code, beside.err]).toEqual([0, ''])
  expect(beside.rows.map(({ base }) => base)).toEqual([2, 0, 2, 4, 4])
  expect(beside.rows.filter(({ note }) => note !== undefined)).toEqual([])
})

itLong('the study of peers fails in a sentence without the program', async () => {
  const { code, rows, err } = await measure({ ...given, VENDOR_PROVIDER: 'none' })
  const sentence = `VENDOR_PROVIDER names no file: ${join(folder, 'none')}\n`
  expect({ code, rows, err }).toEqual({ code: 2, rows: [], err: sentence })
})

it.each<[string, Record<string, string>]>([
  ['VENDOR_MODULE has no create/*.tf: ', { VENDOR_MODULE: 'bin' }],
  ['set VENDOR_PROVIDER to its program', { VENDOR_PROVIDER: '' }],
  ['expected a program terraform-provider-NAME', { VENDOR_PROVIDER: 'bin/terraform' }],
  ['requires no provider with a source …/dge', { VENDOR_PROVIDER: 'terraform-provider-dge' }],
  ['expected terraform or tofu', { TERRAFORM: 'none' }],
])('an environment is refused: %s', (sentence, wrong) => {
  write('terraform-provider-dge', 'another program')
  const env = place({ ...given, TERRAFORM: 'bin/terraform', ...wrong })
  expect(() => findProvider(env)).toThrow(sentence)
})
