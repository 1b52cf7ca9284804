import { describe, expect, it } from 'vitest'
import { Place, fetchWrites } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

setStage()

const name = (i: number): string => `d${i}.example.com`

describe('fewer writes', () => {
  it('overlapping changes take fewer writes than either simple grouping', async () => {
    for (let i = 0; i < 15; i++) {
      const [https, host] = [{ https: { cert_id: 1 } }, { origin_host: { host: 'o.example.com' } }]
      place.manifest(name(i), i < 5 ? https : i < 10 ? { ...https, ...host } : host)
    }
    for (let i = 15; i < 25; i++) {
      const own = i % 2 === 0 ? '192.0.2.1' : '192.0.2.2'
      place.manifest(name(i), {
        ip_black_list: { list: [own] },
        add_response_head: { list: [{ name: 'X-Pool', value: own }] },
      })
    }
    const plan = await place.json('plan')
    expect(plan['summary']).toMatchObject({ writes: 4, lowerBound: 4 })
  })

  it('prints how many writes "groups: all" would save, if any', async () => {
    place.groupAsDocumented()
    for (let i = 0; i < 5; i++)
      place.manifest(name(i), { https: { cert_id: 1 }, timeout: { time: 60 } })
    expect((await place.cli('plan', '-v')).out.replaceAll(/\s+/g, ' ')).toContain(
      '"grouping: {groups: all}" in edgewise.yaml would save 1 of 2 writes; ',
    )
    const silenced = await place.cli('plan', '--report', 'plan.md')
    expect(silenced.err).toContain('Nothing is recorded yet')
    expect((await place.json('plan'))['warnings']).toEqual([])
    expect(silenced.err + silenced.out + place.read('plan.md')).not.toContain('would save')
    const other = new Place(emulator.url, 'grouping: {groups: all}\n')
    for (let i = 0; i < 5; i++)
      other.manifest(name(i), { https: { cert_id: 1 }, timeout: { time: 60 } })
    const { out } = await other.cli('plan', '-v')
    other.remove()
    expect(out).toContain('1 write (at least 1)')
    expect(out).not.toContain('would save')
  })

  it('every plan is proven', async () => {
    for (let i = 0; i < 6; i++)
      place.manifest(name(i), {
        https: { cert_id: 1 + (i % 2) },
        origin_host: { host: `o${i % 3}.example.com` },
      })
    expect((await place.json('plan'))['summary']).toMatchObject({ writes: 5, lowerBound: 5 })
  })

  itLong('domains of rollout.first are written first', async () => {
    const other = new Place(emulator.url, 'rollout: {first: ["d7.*"]}\n')
    for (let i = 0; i < 8; i++) other.manifest(name(i), { https: { cert_id: 1 + i } })
    await other.settle()
    other.remove()
    expect((await fetchWrites(emulator))[0]).toMatchObject({ domains: [name(7)] })
  })

  itLong(
    'one more address on different lists is one write, in state and at the service',
    async () => {
      const list = (i: number, more: string[]) => ({
        ip_black_list: { list: [`192.0.2.${i}`, ...more] },
      })
      for (let i = 1; i <= 8; i++) place.manifest(name(i), list(i, []))
      await place.settle()
      for (let i = 1; i <= 8; i++) place.manifest(name(i), list(i, ['203.0.113.9']))
      expect((await place.json('plan'))['writes']).toMatchObject([
        {
          forms: { ip_black_list: 'append' },
          config: { ip_black_list: { list: ['203.0.113.9'] } },
        },
      ])
      const before = (await fetchWrites(emulator)).length
      await place.settle()
      expect((await fetchWrites(emulator)).length).toBe(before + 1)
      expect((await place.json('plan'))['changes']).toEqual([])
    },
  )

  itLong('adding and removing a header on different lists is one write each', async () => {
    const header = (headerName: string) => ({ name: headerName, value: 'v' })
    const list = (i: number, last: string) => ({
      add_response_head: { list: [header(`X-Own-${i}`), header(last)] },
    })
    for (let i = 1; i <= 8; i++) place.manifest(name(i), list(i, 'X-Old'))
    await place.settle()
    for (let i = 1; i <= 8; i++) place.manifest(name(i), list(i, 'X-New'))
    const plan = await place.json('plan')
    expect((plan['writes'] as { forms: object }[]).map(({ forms }) => forms)).toEqual(
      expect.arrayContaining([{ add_response_head: 'add' }, { add_response_head: 'remove' }]),
    )
    expect(plan['summary']).toMatchObject({ writes: 2 })
    await place.settle()
    expect((await place.json('plan'))['changes']).toEqual([])
  })
})
