import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { place, setWorkspace } from './stage.ts'
import { itLong } from '../runs.ts'

setWorkspace()

const path = 'domains/a.yaml'
const www = 'www.example.com'
const rules = (...patterns: string[]) =>
  patterns.map((each) => `    - {type: 1, pattern: "${each}", time: 60}\n`).join('')
const manifest = (text: string) => `domain: ${www}\nconfig:\n  cache_rule:\n${text}`

/** Lists the codes of the findings of `validate --json`. */
async function list(...args: string[]): Promise<unknown[]> {
  const { diagnostics } = await place.json('validate', ...args)
  return (diagnostics as JsonObject[]).map(({ code }) => code)
}

describe('validate --fix', () => {
  it('shows a diff, asks, writes, and validates again', async () => {
    place.write(path, manifest(rules('jpg', 'css', 'jpg')))
    const questions: string[] = []
    place.ask = (question) => Promise.resolve(questions.push(question) > 0)
    const { code, out } = await place.cli('validate', '--fix')
    expect([code, questions]).toEqual([0, ['Write 1 file?']])
    expect(out).toBe(
      `--- a/${path}\n+++ b/${path}\n@@ -3,4 +3,3 @@\n   cache_rule:\n${rules('jpg', 'css')
        .split('\n')
        .slice(0, 2)
        .map((line) => ` ${line}\n`)
        .join('')}-${rules('jpg')}Valid: 1 domain, 1 item, 1 manifest, 0 profiles in 2 files.\n`,
    )
    expect(place.read(path)).toBe(manifest(rules('jpg', 'css')))
  })

  it('writes nothing if the answer is no, or nobody can be asked', async () => {
    const text = manifest(rules('jpg', 'jpg'))
    place.write(path, text)
    const unasked = await place.cli('validate', '--fix')
    expect([unasked.code, unasked.err]).toEqual([1, expect.stringContaining('Pass --yes to write')])
    expect(await place.json('validate', '--fix')).toMatchObject({ code: 'declined' })
    place.ask = () => Promise.resolve(false)
    const { code, err } = await place.cli('validate', '--fix')
    expect([code, err]).toEqual([1, expect.stringContaining('Fix cancelled: nothing was written')])
    expect(place.read(path)).toBe(text)
  })

  it('removes redundant entries, in lists and in texts with commas', async () => {
    const text = (pattern: string) => manifest(rules(pattern))
    place.write(path, text('jpg, png,jpg'))
    expect(await list('--fix', '-y')).toEqual([])
    expect(place.read(path)).toBe(text('jpg, png'))
    place.write(path, text('jpg').replace('"jpg"', '[jpg, png, jpg]'))
    expect(await list('--fix', '-y')).toEqual([])
    expect(place.read(path)).toBe(text('jpg').replace('"jpg"', '[jpg, png]'))
  })

  it('keeps comments, CRLF and other documents', async () => {
    const text =
      `# head\r\n---\r\ndomain: ${www}\r\nconfig:\r\n  cache_rule: # rules\r\n` +
      '    - {type: 1, pattern: jpg, time: 60}\r\n' +
      '    # more\r\n    - {type: 1, pattern: jpg, time: 60} # again\r\n' +
      '---\r\ndomain: b.example.com\r\nconfig: {}\r\n'
    place.write(path, text)
    expect(await list('--fix', '-y')).toEqual([])
    expect(place.read(path)).toBe(
      text.replace('- {type: 1, pattern: jpg, time: 60} # again', '# again'),
    )
  })

  it('edits a profile once for all of its domains', async () => {
    const profile = (text: string) => `profile: p\nconfig:\n  cache_rule:\n${text}`
    place.write('profiles/p.yaml', profile(rules('jpg', 'jpg')))
    for (const name of ['a', 'b'])
      place.write(`domains/${name}.yaml`, `domain: ${name}.example.com\nprofiles: [p]\n`)
    place.write('domains/a.yaml', `${place.read('domains/a.yaml')}config: {}\n`)
    place.write('domains/b.yaml', `${place.read('domains/b.yaml')}config: {}\n`)
    expect(await list('--fix', '-y')).toEqual([])
    expect(place.read('profiles/p.yaml')).toBe(profile(rules('jpg')))
  })

  it('leaves a profile whose rule repeats that of another one only in some domains', async () => {
    place.write('profiles/p.yaml', `profile: p\nconfig:\n  cache_rule:\n${rules('jpg')}`)
    const more =
      'profile: more\nconfig: {cache_rule: {$append: [{type: 1, pattern: jpg, time: 60}]}}\n'
    place.write('profiles/more.yaml', more)
    place.write('domains/a.yaml', 'domain: a.example.com\nprofiles: [p, more]\nconfig: {}\n')
    place.write('domains/b.yaml', 'domain: b.example.com\nprofiles: [more]\nconfig: {}\n')
    expect(await list('--fix', '-y')).toEqual(['rule-duplicate'])
    expect(place.read('profiles/more.yaml')).toBe(more)
  })

  it('leaves what a comment allows, and lists behind aliases', async () => {
    const allow = '    # edgewise: allow rule-duplicate until 2099-12-31: on purpose\n'
    place.write(path, manifest(rules('jpg') + allow + rules('jpg')))
    expect((await place.cli('validate', '--fix')).err).toContain('There is nothing to fix.')
    const rule = '{type: 1, pattern: jpg, time: 60}'
    place.write(path, `domain: ${www}\nconfig: {cache_rule: [&a ${rule}, *a]}\n`)
    expect(await list('--fix', '-y')).toEqual([])
    expect(place.read(path)).toContain(`cache_rule: [&a ${rule}]}`)
    place.write(path, `domain: ${www}\nvars: {x: &l a}\nconfig: {cache_rule: [*r, &r ${rule}]}\n`)
    expect((await place.cli('validate', '--fix', '-y')).code).toBe(1)
  })

  it('fixes only the given paths', async () => {
    place.write(path, manifest(rules('jpg', 'jpg')))
    place.write('domains/b.yaml', manifest(rules('jpg', 'jpg')).replace(www, 'b.example.com'))
    expect(await list('domains/b.yaml', '--fix', '-y')).toEqual([])
    expect(await list()).toEqual(['rule-duplicate'])
  })

  it('keeps the mode of the file', async () => {
    place.write(path, manifest(rules('jpg', 'jpg')))
    chmodSync(join(place.root, path), 0o640)
    await place.cli('validate', '--fix', '-y')
    expect(statSync(join(place.root, path)).mode & 0o777).toBe(0o640)
  })

  it('shows no secret in the diff', async () => {
    const sign = (time: number) =>
      '  visit_timestamp: {pattern: .*, time_format: timestamp, key: verysecretkey, ' +
      `deadtime: ${time}, req_uri_type: 1}\n`
    place.write(path, manifest(rules('jpg', 'jpg')) + sign(60))
    const { out, err } = await place.cli('validate', '--fix', '-y')
    expect(out).toContain('visit_timestamp')
    expect(out + err).not.toContain('verysecretkey')
  })
})

describe('the level of a finding about rules', () => {
  itLong('makes plan look for it, and refuse', async () => {
    place.write(path, manifest(rules('jpg', 'jpg')))
    const plan = async (...args: string[]) => {
      const { code, out, err } = await place.cli('plan', ...args)
      return [code, (out + err).includes('This rule repeats an earlier one')]
    }
    expect(await plan()).toEqual([0, false])
    expect(await plan('-E', 'rule-duplicate')).toEqual([1, true])
    expect(await plan('-W', 'rule-duplicate')).toEqual([0, true])
    place.configure('checks: {rule-duplicate: error}')
    expect(await plan()).toEqual([1, true])
    expect(await plan('-W', 'rule-duplicate')).toEqual([0, true])
    expect((await place.cli('validate')).code).toBe(1)
    const applied = await place.cli('apply', '--yes')
    expect([applied.code, applied.err]).toEqual([1, expect.stringContaining('repeats an earlier')])
    place.write(path, manifest(rules('jpg') + allowDuplicate + rules('jpg')))
    expect(await plan()).toEqual([0, false])
    expect((await place.cli('validate')).code).toBe(0)
  })
})

const allowDuplicate = '    # edgewise: allow rule-duplicate until 2099-12-31: on purpose\n'
