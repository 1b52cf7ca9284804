// @module-tag often
import { describe, expect, it } from 'vitest'
import { place, setWorkspace } from './stage.ts'

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

describe('check', () => {
  it('lists what differs from nearly all similar domains, at most 80 columns wide', async () => {
    write()
    const { code, out, err } = await place.cli('check')
    expect([code, err, out]).toEqual([
      0,
      '',
      '37 of 38 domains with profile video have timeout.time 60\n' +
        `  ${name(5)}: 30  (domains/5.yaml:3:26)\n\n` +
        '38 of 40 domains with profile video set timeout\n' +
        `  ${name(0)}: not set\n  ${name(1)}: not set\n`,
    ])
    expect(await place.cli('check', '--outliers')).toEqual({ code, out, err })
  })

  it('prints JSON', async () => {
    write()
    expect(await place.json('check')).toEqual({
      format: 'edgewise.check/1',
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

  it('lists at most 20 differences, and 10 domains of each', async () => {
    place.write('domains/a.yaml', '')
    const domains = Array.from({ length: 400 }, (_, i) => `n${i}.example.com`)
    const documents = domains.map(
      (domain, i) =>
        `domain: ${domain}\nconfig: {timeout: {time: ${i < 15 ? 30 : 60}}, ` +
        `head_control: {list: [{regex: ".*", head_op: ADD, head_direction: CLI_REP, head: X-A, ` +
        `value: ${i === 9 ? `"\\u202e${'v'.repeat(200)}"` : 'a'}, order: 1}]}}\n`,
    )
    place.write('domains/a.yaml', documents.join('---\n'))
    const { out } = await place.cli('check')
    expect(out).toContain('  and 5 more domains\n')
    expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80)
    expect(out).not.toContain('\u202e')
  })

  it('finds nothing in few domains', async () => {
    place.manifest('www.example.com', { timeout: { time: 60 } })
    expect(await place.cli('check')).toMatchObject({
      code: 0,
      out: 'Nothing differs from nearly all similar domains.\n',
    })
  })

  it('fails as validate does if a manifest is invalid', async () => {
    place.manifest('www.example.com', { https: { cert_id: 'x' } })
    expect(await place.cli('check')).toMatchObject({ code: 1, out: '' })
    expect(await place.json('check')).toMatchObject({ code: 'invalid' })
  })
})
