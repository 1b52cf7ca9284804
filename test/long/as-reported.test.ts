// @module-tag often
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseJson, type JsonObject } from '../../src/core/model/json.ts'
import { runProgram } from '../program.ts'
import { Place, fetchConfig } from '../steps/cli.ts'
import { emulator, setStage } from '../steps/stage.ts'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/**
 * What people reported, command by command with the built program. The rules behind each have tests
 * of their own; these see that the program as it is shipped keeps them.
 */
setStage({ extended: true })

const domain = 'www.example.com'

let place: Place

beforeEach(() => void (place = new Place(emulator.url)))

afterEach(() => place.remove())

const edgewise = (...args: string[]) => runProgram(place, ...args)

const apply = (config: JsonObject) => {
  place.manifest(domain, config)
  return edgewise('apply', '--yes')
}

it.each([
  ['a cached path', { cache_rule_list: [{ match_method: 'dir', pattern: '${secret:preview}' }] }],
  ['a parameter', { cache_rule_list: [{ match_method: 'params', pattern: '${secret:preview}' }] }],
  ['a denied address', { deny_url: { urls: ['${secret:preview}'] } }],
])('a secret as %s crashes neither check, trace nor plan', async (_, config) => {
  place.configure('secrets: {preview: {env: PREVIEW}}')
  place.env['PREVIEW'] = 'kT9-vw2.Qx7_pL4z'
  place.manifest(domain, config)
  for (const [command, ...args] of [
    ['validate'],
    ['trace', `https://${domain}/kT9`],
    ['plan', '--requests', 'requests.txt'],
  ] as const) {
    place.write('requests.txt', `https://${domain}/kT9\n`)
    const { out, err } = await edgewise(command, ...args)
    expect(out + err).not.toMatch(/internal error|\[object Object\]|kT9-vw2|is not a function/)
  }
})

it.each(['ip_white_list', 'ip_black_list'])('an imported empty %s is unset', async (item) => {
  place.write('domains.json', JSON.stringify({ [domain]: { [item]: { list: [] } } }))
  const options = ['--write-manifests', '--yes']
  expect(await edgewise('import', 'domains.json', ...options)).toMatchObject({ code: 0 })
  expect(await edgewise('plan', '--detailed-exitcode')).toMatchObject({ code: 0 })
})

it('a suffix among sixty, and the time beside it, are seen in each report', async () => {
  const names = Array.from({ length: 60 }, (_, i) => `suffix${i}`)
  const rule = (suffixes: string[], expire: number) => ({
    cache_rule_list: [{ match_method: 'ext', pattern: suffixes.join(';'), expire, priority: 1 }],
  })
  expect(await apply(rule(names, 86_400))).toMatchObject({ code: 0 })
  place.manifest(domain, rule(names.toSpliced(30, 0, 'added'), 8_640_000))
  const reports = ['--report', 'plan.md', '--report', 'plan.html']
  const { out } = await edgewise('plan', ...reports)
  for (const text of [out, place.read('plan.md'), place.read('plan.html')])
    for (const seen of ['added', '86400', '8640000']) expect(text).toContain(seen)
})

it.each(['0042', '1e3', '0x1F', '0o17', '3.10'])('%s without quotes is an error', async (text) => {
  const manifest = (value: string) =>
    `domain: ${domain}\nconfig:\n  add_response_head:\n    list: [{name: X-A, value: ${value}}]\n`
  place.write(`domains/a.yaml`, manifest(text))
  const { code, out } = await edgewise('validate')
  expect([code, out]).toEqual([1, expect.stringContaining(`"${text}"`)])
  place.write(`domains/a.yaml`, manifest(`"${text}"`))
  expect(await edgewise('fmt')).toMatchObject({ code: 0 })
  expect(place.read('domains/a.yaml')).toMatch(new RegExp(`['"]${text}['"]`))
})

it('a field that stays at the service is a difference until it is given up', async () => {
  const https = { cert_id: 1 }
  expect(await apply({ https: { ...https, ssl_protocol: ['TLSv1'] } })).toMatchObject({ code: 0 })
  place.manifest(domain, { https })
  const plan = await edgewise('plan', '--detailed-exitcode')
  expect([plan.code, plan.out]).toEqual([2, expect.stringContaining('1 value stays')])
  expect((await edgewise('show', domain)).out).toContain('TLSv1')
  expect(await edgewise('apply', '--yes')).toMatchObject({ code: 0 })
  expect(await edgewise('plan', '--detailed-exitcode')).toMatchObject({ code: 0 })
})

it('rules that no reading settles end no check', async () => {
  const root = { type: 3, pattern: '/', time: 90 }
  place.manifest(domain, { cache_rule: [root, { type: 4, pattern: '.*', time: 60 }] })
  expect(await edgewise('validate')).toMatchObject({ code: 0 })
})

it('requests that nest 900 levels are refused, and no process dies', async () => {
  place.manifest(domain, { timeout: { time: 30 } })
  for (const file of ['requests.yaml', 'requests.json']) {
    place.write(file, '['.repeat(900))
    const { code, err } = await edgewise('plan', '--requests', file)
    expect([code, err]).toEqual([1, expect.stringContaining(file)])
  }
})

it('a journal whose author was changed is found', async () => {
  expect(await apply({ timeout: { time: 30 } })).toMatchObject({ code: 0 })
  const files = readdirSync(place.root, { recursive: true, encoding: 'utf8' })
  const path = files.find((file) => /journal\/.*\.json$/.test(file)) ?? ''
  const journal = parseJson(place.read(path)) as JsonObject
  expect(journal['author']).toEqual(expect.any(String))
  place.write(path, JSON.stringify({ ...journal, author: 'somebody' }))
  expect(await edgewise('state', 'verify')).toMatchObject({ code: 1 })
})

it('an origin that leads back is a warning, and a loop in a trace', async () => {
  place.write(
    'domains/a.yaml',
    'domain: .test.com\nconfig: {origin: {default_master: a.test.net}}\n',
  )
  place.manifest('a.test.net', { origin: { default_master: 'x.test.com' } })
  const { code, out } = await edgewise('validate')
  expect([code, out]).toEqual([0, expect.stringContaining('The origin leads back to the domain')])
  expect((await edgewise('trace', 'https://a.test.net/')).out).toMatch(/^Note {6}an origin leads/m)
})

it.each([
  ['https://www.example.com/', 'www.example.com'],
  ['"*.example.com"', '.example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['www.example.com.', 'www.example.com'],
])('the name %s is offered as %s', async (written, name) => {
  place.write('domains/a.yaml', `domain: ${written}\nconfig: {timeout: {time: 60}}\n`)
  const { code, out } = await edgewise('validate')
  expect([code, out]).toEqual([1, expect.stringContaining(`Did you mean "${name}"?`)])
  place.write('domains/a.yaml', 'domain: www.example.com\nconfig: {timeout: {time: 60}}\n')
  const trace = await edgewise('trace', 'https://bücher.example/')
  expect(trace.err).toContain('Did you mean "xn--bcher-kva.example"?')
})

it('a pattern that can not be meant is a warning, an ordinary one no note', async () => {
  const rule = (match_method: string, pattern: string, i: number) => ({
    match_method,
    pattern,
    expire: 60,
    priority: i,
  })
  const odd = ['ext jpg;png', 'ext ^jpg$', 'route /rooms$', 'regex /\\.css$/i', 'regex (?i)x']
  const list = (texts: string[]) =>
    texts.map((text, i) => rule(...(text.split(' ') as [string, string]), i))
  place.manifest(domain, { cache_rule_list: list(odd) })
  const { code, out } = await edgewise('validate')
  expect([code, out]).toEqual([0, expect.stringContaining('5 warnings')])
  const plain = ['regex \\.(jpg|png)$', 'regex ^https?://www\\.example\\.com/a/', 'ext jpg']
  place.manifest(domain, { cache_rule_list: list(plain) })
  const silent = await edgewise('validate')
  expect(silent.out).not.toMatch(/note|warning/)
  place.manifest(domain, { cache_rule_list: list([...plain, 'ext tar.gz']) })
  expect((await edgewise('validate')).out).toContain('(tar.gz), if R12 is last-dot.')
})

it('a policy sees times in seconds, and lists', async () => {
  const rule = { match_method: 'ext', pattern: 'jpg,png', expire: 2, expire_unit: 'D' }
  place.manifest(domain, { cache_rule_list: [rule] })
  const deny = 'config.cache_rule_list.exists(r, r.expire > 86400 && "png" in r.pattern)'
  const policy = `policy: short\nlevel: hard\non: domain\ndeny: '${deny}'\nmessage: too long\n`
  place.write('policies/a.yaml', policy)
  const { code, out } = await edgewise('validate')
  expect([code, out]).toEqual([1, expect.stringContaining('short (hard): too long')])
  place.manifest(domain, { cache_rule_list: [{ ...rule, expire: 24, expire_unit: 'h' }] })
  expect(await edgewise('validate')).toMatchObject({ code: 0 })
})

it('an exception goes before the rules of a profile', async () => {
  const rule = (pattern: string) => `{match_method: dir, pattern: ${pattern}, expire: 60}`
  place.write('profiles/p.yaml', `profile: p\nconfig: {cache_rule_list: [${rule('/')}]}\n`)
  const lists = `{$prepend: [${rule('/live/')}], $append: [${rule('/rest/')}]}`
  const manifest = `domain: ${domain}\nprofiles: [p]\nconfig:\n  cache_rule_list: ${lists}\n`
  place.write('domains/a.yaml', manifest)
  const { out } = await edgewise('show', domain, '--json')
  expect(out.match(/"\/\w*\/?"(?=,)/g)?.slice(0, 3)).toEqual(['"/live/"', '"/"', '"/rest/"'])
  const trace = await edgewise('trace', `https://${domain}/live/a`, '--json')
  expect(trace.out).toContain(`"pattern":"/live/","file":"domains/a.yaml","line":4`)
})

it('drift takes what import takes: bodies of requests and answers, a line each', async () => {
  place.manifest(domain, { timeout: { time: 60 }, https: { cert_id: 1 } })
  const lines = [
    { domains: [domain], config: { timeout: { time: '60' } } },
    { code: 0, data: [{ domain, config: { https: { cert_id: 1 } } }] },
  ].map((each) => JSON.stringify(each))
  place.write('log.ndjson', `${lines.join('\n')}\n`)
  expect(await edgewise('import', 'log.ndjson')).toMatchObject({ code: 0 })
  expect(await edgewise('drift', '--observed', 'log.ndjson')).toMatchObject({ code: 0 })
  const other = JSON.stringify({ [domain]: { timeout: { time: 90 } } })
  place.write('log.ndjson', `${lines.join('\n')}\n${other}\n`)
  for (const words of [['import'], ['drift', '--observed']]) {
    const { code, out, err } = await edgewise(...words, 'log.ndjson')
    expect([code, out + err]).toEqual([1, expect.stringMatching(/another value|two values/)])
  }
})

it('a log is read with a line of other bytes, and packed, but not without bounds', async () => {
  place.manifest(domain, { timeout: { time: 60 } })
  const line = (path: string) =>
    `192.0.2.1 - - [10/Oct/2023:13:55:36 -0700] "GET ${path} HTTP/1.1" 200 1 "-" "curl/8"\n`
  const log = Buffer.from(`${line('/a')}${line('/caf\u00e9')}`, 'latin1')
  writeFileSync(join(place.root, 'plain.log'), log)
  // As logs that were appended to each other.
  writeFileSync(join(place.root, 'two.gz'), Buffer.concat([gzipSync(log), gzipSync(line('/b'))]))
  writeFileSync(join(place.root, 'cut.gz'), gzipSync(log).subarray(0, 40))
  writeFileSync(join(place.root, 'bomb.gz'), gzipSync(Buffer.alloc(257 * 1024 * 1024)))
  const plan = (file: string) =>
    edgewise('plan', '--requests', file, '--log', 'combined', '--base', `https://${domain}`)
  for (const [file, found] of [
    ['plain.log', /1 request traced .* 1 skipped/],
    ['two.gz', /2 requests traced .* 1 skipped/],
    ['cut.gz', /cut\.gz: its gzip data is damaged$/m],
    ['bomb.gz', /bomb\.gz: it is larger than 256 MB unpacked$/m],
  ] as const) {
    const { out, err } = await plan(file)
    expect(out + err).toMatch(found)
  }
})

describe('a disk that takes nothing', () => {
  let folder: string
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'edgewise-reported-'))))
  afterEach(() => rmSync(folder, { recursive: true }))

  it.each([
    ['No space left on device', 'the disk is full'],
    ['Read-only file system', 'the file system is read-only'],
    ['Permission denied', 'no permission'],
  ])('is not a broken repository: %s', async (said, cause) => {
    place.remove()
    place = new Place(emulator.url, 'state: {store: git}\n', { state: '' })
    for (const words of ['init -q', 'add .', '-c user.name=A -c user.email=a@b.c commit -qm first'])
      execFileSync('git', words.split(' '), { cwd: place.root })
    place.manifest(domain, { timeout: { time: 60 } })
    const failing = `#!/bin/sh
case " $* " in *" fast-import "*)
  echo "fatal: Unable to create temporary file '.git/objects/pack/tmp_pack_X': ${said}" >&2
  exit 128
esac
PATH='${process.env['PATH']}' exec git "$@"
`
    writeFileSync(join(folder, 'git'), failing, { mode: 0o755 })
    place.env['PATH'] = `${folder}:${process.env['PATH']}`
    const { code, err } = await edgewise('apply', '--yes')
    expect([code, err]).toEqual([1, expect.stringContaining(`git fast-import failed: ${cause}`)])
    expect(err).not.toContain('fsck')
  })

  it.runIf(process.platform === 'linux')('is named where a report is written', async () => {
    place.manifest(domain, { timeout: { time: 60 } })
    const file = join(folder, 'plan.md')
    symlinkSync('/dev/full', file)
    const { code, err } = await edgewise('plan', '--report', file)
    expect([code, err]).toEqual([1, expect.stringContaining('(ENOSPC): the disk is full')])
  })
})

it.each(['tests/a.yaml', 'requests/a.txt', 'rules/a.yaml', 'CODEOWNERS', 'edgewise.yaml'])(
  'a hook that checks and formats %s does not fail',
  async (path) => {
    place.configure('policies: [rules/*]\nrequests: [requests/*]')
    place.manifest(domain, { timeout: { time: 60 } })
    place.write('tests/a.yaml', `test: a\ndomains: [${domain}]\nitems: {timeout/time: 60}\n`)
    place.write('requests/a.txt', `https://${domain}/\n`).write('CODEOWNERS', '* @all\n')
    place.write('rules/a.yaml', 'except: []\n').write('README', '')
    await edgewise('fmt')
    expect(await edgewise('validate', path)).toMatchObject({ code: 0 })
    expect(await edgewise('fmt', '--check', path)).toMatchObject({ code: 0, out: '' })
    for (const command of ['validate', 'fmt']) {
      const { code, err } = await edgewise(command, path, 'README')
      expect([code, err]).toEqual([1, expect.stringContaining('README: no glob of edgewise.yaml')])
    }
  },
)

it('a malformed test is found by its path, fails alone, and is in the JUnit file', async () => {
  place.manifest(domain, { timeout: { time: 60 } })
  place.write('tests/a.yaml', 'tset: a\n')
  place.write('tests/b.yaml', `test: b\ndomains: [${domain}]\nitems: {timeout/time: 60}\n`)
  const { code, out } = await edgewise('validate', 'tests/a.yaml')
  expect([code, out]).toEqual([1, expect.stringContaining('"test" is required')])
  expect(await edgewise('test', '--report', 'r.xml')).toMatchObject({ code: 1 })
  expect(place.read('r.xml')).toContain('tests="2" failures="1"')
  expect(place.read('r.xml')).toContain('<testcase name="b"')
})

it('fmt takes paths, and - for stdin, whatever kind of file that is', async () => {
  const rough = `config: {timeout: { time: 60 }}\ndomain: ${domain}\n`
  place.write('domains/a.yaml', rough).write('domains/b.yaml', rough)
  expect(await edgewise('fmt', 'domains/a.yaml')).toMatchObject({
    code: 0,
    out: 'formatted  domains/a.yaml\n',
  })
  expect(place.read('domains/b.yaml')).toBe(rough)
  const formatted = place.read('domains/a.yaml')
  place.write('tests/a.yaml', `test: a\ndomains:   [${domain}]\n`)
  expect(await edgewise('fmt', 'tests')).toMatchObject({ code: 0 })
  expect(place.read('tests/a.yaml')).toBe(`test: a\ndomains: [${domain}]\n`)
  const { Readable } = await import('node:stream')
  const feed = (text: string, ...args: string[]) => {
    place.stdin = Readable.from([Buffer.from(text)])
    return place.cli('fmt', '-', ...args)
  }
  expect(await feed(rough)).toMatchObject({ code: 0, out: formatted })
  expect(await feed(rough, '--check')).toMatchObject({ code: 2, out: 'not formatted  (stdin)\n' })
  expect(await feed(formatted, '--check')).toMatchObject({ code: 0, out: '' })
  expect(await feed('a: [')).toMatchObject({ code: 1, out: '' })
  expect(await feed(rough, '--schema')).toMatchObject({ code: 1, out: '' })
})

it('a manifest that was moved out of the globs is named where it is released', async () => {
  place.manifest('other.example.com', { timeout: { time: 60 } })
  expect(await apply({ timeout: { time: 60 } })).toMatchObject({ code: 0 })
  const [file = ''] = readdirSync(join(place.root, 'domains')).filter((name) =>
    name.startsWith('www'),
  )
  mkdirSync(join(place.root, 'archive'))
  renameSync(join(place.root, 'domains', file), join(place.root, 'archive/moved.yaml'))
  for (const args of [['plan'], ['apply', '--yes']]) {
    const { out, err } = await edgewise(...args)
    expect(out + err).toContain('no glob of edgewise.yaml matches archive/moved.yaml')
  }
  expect((await edgewise('plan')).out).not.toContain('archive')
})

it('the examples of init are removed as the guide says, and no test of them fails', async () => {
  const guide = readFileSync(
    new URL('../../docs/guides/adopting-a-fleet.md', import.meta.url),
    'utf8',
  )
  const files = /^rm (.*?) +# the examples$/m.exec(guide)?.[1]?.split(' ') ?? []
  expect(await edgewise('init', 'cdn', '--ci', 'none')).toMatchObject({ code: 0 })
  for (const path of files) rmSync(join(place.root, 'cdn', path))
  const left = readdirSync(join(place.root, 'cdn'), { recursive: true, encoding: 'utf8' })
  expect(left.filter((path) => /www|baseline/.test(path))).toEqual([])
  place.write('cdn/domains/a.yaml', 'domain: shop.example.com\nconfig: {timeout: {time: 60}}\n')
  expect(await edgewise('-C', 'cdn', 'test', '--allow-empty')).toMatchObject({ code: 0 })
})

/** Writes a configuration as another client of the account does. */
async function writeAsOther(config: JsonObject): Promise<void> {
  const token = place.env['EDGEWISE_TOKEN'] ?? ''
  const answer = await fetch(`${emulator.url}/v2/domain/config`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, domains: domain, config }),
  })
  expect(await answer.json()).toMatchObject({ code: 0 })
}

const readBack = () => {
  const service = 'service:\n  readBack: true\n  settleSeconds: 0\n'
  place.write('edgewise.yaml', place.read('edgewise.yaml').replace('service:\n', service))
}

it('an edit does not send back what somebody else changed in the item', async () => {
  readBack()
  const limit = { max_rate_count: 100, leading_flow_count: 1 }
  expect(await apply({ rate_limit: limit })).toMatchObject({ code: 0 })
  await writeAsOther({ rate_limit: { ...limit, max_rate_count: 200 } })
  const edited = { rate_limit: { ...limit, leading_flow_count: 2 } }
  const refused = await apply(edited)
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/differs:[^]*100 → 200/)])
  expect(await fetchConfig(emulator, domain)).toMatchObject({ rate_limit: { max_rate_count: 200 } })
  const verified = await edgewise('apply', '--yes', '--verify', '--allow', 'rate_limit')
  expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('200 → 100')])
  expect(await fetchConfig(emulator, domain)).toMatchObject(edited)
})

it('an adoption without questions makes up no order of header rules', async () => {
  readBack()
  const rule = { regex: '.*', head_op: 'DEL', head_direction: 'CLI_REP' }
  const list = ['A', 'B'].map((head, i) => ({ ...rule, head, order: 9 - i }))
  await writeAsOther({ head_control: { list }, timeout: { time: '60' } })
  const imported = await edgewise('import', '--live', '--write-manifests', '--yes')
  expect([imported.code, imported.err]).toEqual([0, expect.stringContaining('order')])
  expect(await edgewise('apply', '--yes')).toMatchObject({ code: 0 })
  expect(await fetchConfig(emulator, domain)).toMatchObject({ head_control: { list } })
})

it('a repair of a domain that is gone exits with 3', async () => {
  readBack()
  expect(await apply({ timeout: { time: 60 } })).toMatchObject({ code: 0 })
  const token = place.env['EDGEWISE_TOKEN'] ?? ''
  await fetch(`${emulator.url}/v2/domain?domains=${domain}&token=${token}`, { method: 'DELETE' })
  expect(await edgewise('drift', '--live', '--repair', '--yes')).toMatchObject({ code: 3 })
})
