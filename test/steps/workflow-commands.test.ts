// @module-tag often
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findCommands } from '../report/runner.ts'
import { everyNth, itOften } from '../runs.ts'
import { startAnsweringService } from './answering-service.ts'
import { Place } from './cli.ts'

/** Text with commands of runners, escape sequences and direction marks, on several lines. */
const hostile =
  '::error::one\n  ::add-mask::two\r::error::three ##[error]four\u2028\u0085::five::\n' +
  '\u001b[2J\u001b]0;title\u0007\u009b1m\u202esection_start:1:six\r\u001b[0K\u200b::error::seven'
const fileName = `${hostile}.yaml`

let place: Place
beforeEach(async () => {
  const refuse = await startAnsweringService(() => [400, { code: 400203, message: hostile }])
  place = new Place(refuse.url)
})
afterEach(() => place.remove())

/** Runs a command line and expects no line that a runner executes, and every control escaped. */
async function expectHarmless(...args: string[]): Promise<void> {
  const { out, err } = await place.cli(...args)
  for (const text of [out, err]) {
    expect([args, findCommands(text)]).toEqual([args, []])
    // oxlint-disable-next-line no-control-regex -- that is what must not be there
    expect([args, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/.exec(text)]).toEqual([
      args,
      null,
    ])
    // A line end of foreign text is escaped, too.
    const split = text.split('\n').filter((line) => /^\W*(add-mask|u001b\[2J|u\{1b)/.test(line))
    expect([args, split]).toEqual([args, []])
  }
}

it('invalid manifests with hostile names, keys and values print no command', async () => {
  place.write(
    join('domains', fileName),
    [
      { domain: hostile, profiles: [hostile], config: { [hostile]: { [hostile]: hostile } } },
      { domain: 'a.example.com', profiles: [hostile], vars: { [hostile]: hostile }, config: {} },
      { domain: 'b.example.com', config: { timeout: { time: hostile, [hostile]: 1 } } },
      { domain: 'c.example.com', config: { origin_host: { host: `\${var:${hostile}}` } } },
      { [hostile]: hostile },
    ]
      .map((document) => JSON.stringify(document))
      .join('\n---\n'),
  )
  place.write('domains/text.yaml', `domain: ${hostile}\nconfig: {}\n`)
  for (const format of ['text', 'json', 'sarif'])
    await expectHarmless('validate', '--format', format)
  await expectHarmless('validate', '-v', join('domains', fileName))
  for (const command of ['plan', 'apply', 'drift', 'fmt']) {
    await expectHarmless(command)
    await expectHarmless(command, '--json')
  }
  const { out } = await place.cli('validate', '--format', 'github')
  const annotations = out.trimEnd().split('\n')
  expect(annotations.length).toBeGreaterThan(4)
  for (const line of annotations) expect(line).toMatch(/^::(error|warning) file=[^\r\u2028]*$/)
})

it('valid manifests with hostile values, and a hostile refusal, print no command', async () => {
  mkdirSync(join(place.root, 'domains'))
  const config = {
    extend: { squid: hostile },
    deny_url: { urls: [hostile] },
    timeout: { time: 60 },
  }
  writeFileSync(
    join(place.root, 'domains', fileName),
    JSON.stringify({ domain: 'www.example.com', config }),
  )
  place.env['USER'] = hostile
  for (const args of [
    ['validate'],
    ['fmt', '--check'],
    ['fmt', '--check', '--json'],
    ['complete', '--', 'show', ''],
    ['plan'],
    ['plan', '-v'],
    ['plan', '--json', '--out', hostile.replaceAll('/', '')],
    ['apply', '--yes', '--allow', 'extend'],
    ['apply', '--yes', '--allow', 'extend', '--json'],
    ['drift'],
    ['drift', '--json'],
    ['show', 'www.example.com'],
    ['state', 'history'],
    ['fmt'],
  ])
    await expectHarmless(...args)
})

it('hostile settings and arguments print no command', async () => {
  const settings = place.read('edgewise.yaml')
  for (const more of [
    { [hostile]: 1 },
    { id: hostile },
    { state: { store: hostile } },
    { state: { store: 'git', branch: hostile } },
    { manifests: [hostile] },
    { guards: { protect: [hostile], freeze: [hostile] } },
    { secrets: { [hostile]: { file: hostile }, file: { file: hostile } } },
    { service: { url: hostile, timezone: hostile } },
  ]) {
    place.write('edgewise.yaml', `${JSON.stringify({ version: 1, ...more })}\n`)
    await expectHarmless('validate')
    await expectHarmless('plan', '--json')
    await expectHarmless('plan')
  }
  place.write('edgewise.yaml', settings)
  for (const args of [
    ['plan', '--target', hostile],
    ['plan', '--item', hostile],
    ['plan', '--out', `none/${hostile}`],
    ['apply', hostile],
    ['explain', hostile],
    ['show', hostile],
    ['state', 'forget', hostile, '--yes'],
    ['rollback', hostile],
    ['import', hostile],
    ['drift', '--observed', `${hostile}.json`],
    ['stats', hostile],
    ['prefetch', '--task', hostile],
    ['emulator', '--faults', hostile],
    ['emulator', '--domains', hostile],
    ['emulator', '--timezone', hostile],
    ['-C', hostile, 'plan'],
    ['validate', hostile],
    ['validate', '--format', hostile],
    [hostile],
    ['plan', hostile],
    [`--${hostile}`],
  ]) {
    await expectHarmless(...args)
    await expectHarmless(...args, '--json')
  }
})

it('a hostile file of observed configuration prints no command', async () => {
  place.manifest('www.example.com', { timeout: { time: 60 } })
  const observed = {
    [hostile]: { timeout: { time: 1 } },
    'www.example.com': { [hostile]: hostile },
  }
  for (const each of [
    observed,
    { 'www.example.com': { timeout: { time: hostile, [hostile]: hostile } } },
    { 'www.example.com': hostile },
    hostile,
  ]) {
    place.write('observed.json', JSON.stringify(each))
    await expectHarmless('drift', '--observed', 'observed.json')
    await expectHarmless('drift', '--observed', 'observed.json', '--json')
    await expectHarmless('import', 'observed.json')
    await expectHarmless('import', 'observed.json', '--write-manifests', '--json')
  }
})

itOften('state files with hostile names, keys and values print no command', async () => {
  const accept = await startAnsweringService(() => [200, { code: 0 }])
  place.remove()
  place = new Place(accept.url)
  place.manifest('www.example.com', { timeout: { time: 60 }, extend: { squid: 'one' } })
  expect((await place.cli('apply', '--yes', '--allow', 'extend')).code).toBe(0)
  const folder = join('.edgewise', 'state')
  const files = readdirSync(join(place.root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => path.endsWith('.json'))
  expect(files.length).toBeGreaterThan(1)
  const alterations = files.flatMap((path) => {
    const text = place.read(path)
    const strings = Array.from(text.matchAll(/"([^"]+)"/g), ([found]) => found)
    return [...new Set(strings)].map((found) => ({ path, text, found }))
  })
  for (const { path, text, found } of everyNth(alterations, 9)) {
    place.write(path, text.replaceAll(found, JSON.stringify(hostile)))
    await expectHarmless('plan')
    await expectHarmless('show', 'www.example.com')
    await expectHarmless('state', 'history')
    await expectHarmless('state', 'list')
    place.write(path, text)
  }
})

it('hostile names in git print no command', async () => {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: place.root, stdio: 'pipe' })
  git('init', '-q')
  git('config', 'user.name', hostile.replaceAll(/[\n\r]/g, ' '))
  git('config', 'user.email', 'a@example.com')
  git('remote', 'add', 'origin', `/nowhere/${hostile.replaceAll('\n', '')}`)
  place.manifest('www.example.com', { timeout: { time: 60 } })
  place.write('edgewise.yaml', place.read('edgewise.yaml').replace(/^state:.*$/m, ''))
  for (const args of [['plan'], ['apply', '--yes'], ['state', 'history'], ['state', 'list']])
    await expectHarmless(...args)
  renameSync(join(place.root, 'domains'), join(place.root, 'other'))
  await expectHarmless('plan')
})
