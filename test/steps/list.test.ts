// @module-tag often
import { describe, expect, it } from 'vitest'
import { listSchemaErrors } from '../report/output-schema.ts'
import { Place } from './cli.ts'
import { enterPlace, place, setWorkspace } from './stage.ts'

setWorkspace()

const name = (i: number) => `d${String(i).padStart(2, '0')}.example.com`

/** Writes 40 manifests with a profile; two have no `timeout`, one has another one. */
function write(): void {
  place.write('profiles/video.yaml', 'profile: video\nconfig: {https: {cert_id: 1001}}\n')
  for (let i = 0; i < 40; i++) {
    const timeout = i < 2 ? '{}' : `{timeout: {time: ${i === 5 ? 30 : 60}}}`
    place.write(`domains/${i}.yaml`, `domain: ${name(i)}\nprofiles: [video]\nconfig: ${timeout}\n`)
  }
}

describe('list --outliers', () => {
  it('draws what differs from nearly all similar domains as a plan draws a change', async () => {
    write()
    const { code, out, err } = await place.cli('list', '--outliers')
    expect([code, err, out]).toEqual([
      0,
      '',
      '37 of 38 domains with profile video have the same value of timeout.time\n' +
        `~ timeout   ${name(5)}\n  ~ time  60 → 30\n` +
        '    at domains/5.yaml:3:26\n\n' +
        '38 of 40 domains with profile video set timeout\n' +
        `- timeout   2 domains\n    not set\n    ${name(0)}, ${name(1)}\n`,
    ])
  })

  it('shows the one entry in which lists of 150 addresses differ', async () => {
    const list = Array.from({ length: 150 }, (_, i) => `203.0.113.${i}`)
    for (let i = 0; i < 20; i++)
      place.manifest(name(i), {
        ip_black_list: { list: i === 7 ? list.with(70, '192.0.2.1') : list },
      })
    const { out } = await place.cli('list', '--outliers')
    expect(out).toContain(
      '19 of 20 domains with the same items have the same value of ip_black_list',
    )
    expect(out).toMatch(/- list +203\.0\.113\.70\n +\+ list +192\.0\.2\.1\n/)
    expect(out).not.toContain('203.0.113.71')
    const markdown = ['--report', 'list.md', '--report', 'list.html', '--report', 'list.json']
    expect((await place.cli('list', '--outliers', ...markdown)).out).toBe(out)
    for (const path of ['list.md', 'list.html'])
      expect(place.read(path)).toMatch(/- list +203\.0\.113\.70\n +\+ list +192\.0\.2\.1\n/)
    expect(JSON.parse(place.read('list.json'))).toEqual(await place.json('list', '--outliers'))
  })

  it('prints JSON', async () => {
    write()
    const output = await place.json('list', '--outliers')
    expect(listSchemaErrors('list', output)).toEqual([])
    expect(output).toEqual({
      format: 'edgewise.list/1',
      of: 'desired',
      total: 2,
      outliers: [
        {
          profile: 'video',
          item: 'timeout',
          pointer: '/time',
          usual: '"60"',
          domains: 38,
          differing: 1,
          examples: [{ domain: name(5), value: '"30"', file: 'domains/5.yaml', line: 3 }],
        },
        {
          profile: 'video',
          item: 'timeout',
          usual: '"set"',
          domains: 40,
          differing: 2,
          examples: [{ domain: name(0) }, { domain: name(1) }],
        },
      ],
    })
  })

  it('compares state, also with invalid manifests, and only domains that match', async () => {
    enterPlace(new Place('emulator'))
    write()
    expect((await place.cli('list', '--outliers', '--of', 'recorded')).out).toContain('Nothing')
    await place.settle()
    place.write('domains/6.yaml', `domain: ${name(6)}\nconfig: {timeout: {time: x}}\n`)
    const recorded = ['list', '--outliers', '--of', 'recorded']
    const { out } = await place.cli(...recorded)
    expect(out).toContain('  ~ time  60 → 30\n\n')
    expect((await place.cli(...recorded, '--exclude', name(5))).out).not.toContain('time')
    expect((await place.cli(...recorded, '--target', 'd*.example.com')).out).toBe(out)
    expect((await place.cli(...recorded, '--target', 'none')).err).toContain('no managed domain')
  })

  it('lists at most 20 differences, and with -v all of them', async () => {
    const domains = Array.from({ length: 400 }, (_, i) => `n${i}.example.com`)
    const documents = domains.map(
      (domain, i) =>
        `domain: ${domain}\nconfig: {timeout: {time: ${i < 15 ? 30 : 60}}, ` +
        `head_control: {list: [{regex: ".*", head_op: ADD, head_direction: CLI_REP, head: X-A, ` +
        `value: ${i === 9 ? `"\\u202e${'v'.repeat(200)}"` : 'a'}, order: 1}]}}\n`,
    )
    place.write('domains/a.yaml', documents.join('---\n'))
    const { out } = await place.cli('list', '--outliers')
    expect(out).toMatch(/~ timeout {3}15 domains\n {2}~ time {2}60 → 30\n/)
    expect(out).toMatch(/at domains\/a\.yaml:2:26, .*and 5 more/s)
    expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80)
    expect(out).not.toContain('\u202e')
    const whole = await place.cli('list', '--outliers', '-v')
    expect(whole.out).not.toMatch(/ more\b/)
  })

  it('finds nothing in few domains', async () => {
    place.manifest('www.example.com', { timeout: { time: 60 } })
    expect(await place.cli('list', '--outliers')).toMatchObject({
      code: 0,
      out: 'Nothing differs from nearly all similar domains.\n',
    })
  })

  it('fails as validate does if a manifest is invalid, and without --outliers', async () => {
    place.manifest('www.example.com', { https: { cert_id: 'x' } })
    expect(await place.cli('list', '--outliers')).toMatchObject({ code: 1, out: '' })
    expect(await place.json('list', '--outliers')).toMatchObject({ code: 'invalid' })
    const { code, err } = await place.cli('list')
    expect([code, err]).toEqual([1, expect.stringContaining("required option '--outliers'")])
  })
})
