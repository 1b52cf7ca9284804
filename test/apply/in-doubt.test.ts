import { beforeEach, describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { bad, doubt, good, World } from './world.ts'

const [a, b] = ['a.example.com', 'b.example.com'] as const
const desired = {
  timeout: { time: '6' },
  connect_timeout: { origin_connect_timeout: '6' },
}
const full = new EdgewiseError('record-unreachable', 'the disk is full')
let world = new World()
beforeEach(() => {
  world = new World()
})
const listDoubts = () =>
  world.events.flatMap((event) =>
    event.type === 'write.in-doubt'
      ? [{ id: event.id, domains: event.domains, items: event.items, message: event.message }]
      : [],
  )
/** Throws in the saves whose line in the log begins like this. */
const failSaves = (fails: (log: string[]) => boolean) => {
  world.onSave = () => {
    if (fails(world.log)) throw full
  }
}

describe('an in-doubt write', () => {
  it('is reported with its domains and items', async () => {
    const result = await world.apply(world.plan({ [a]: desired, [b]: desired }), () => ({
      outcome: doubt,
    }))
    expect(result.inDoubt).toBe(1)
    expect(listDoubts()).toEqual([
      {
        id: 1,
        domains: [a, b],
        items: ['connect_timeout', 'timeout'],
        message: 'the connection was reset',
      },
    ])
  })

  it('is one whose confirmation can not be recorded', async () => {
    failSaves((log) => log.includes(`send ${a}`))
    const result = await world.apply(world.plan({ [a]: desired }))
    expect(listDoubts()).toMatchObject([
      {
        domains: [a],
        items: ['connect_timeout', 'timeout'],
        message: 'its outcome could not be recorded: the disk is full',
      },
    ])
    const parts = { confirmed: 0, refused: 0, inDoubt: 2, notSent: 0 }
    expect(result).toMatchObject({ inDoubt: 1, parts, sent: true, unrecorded: 'the disk is full' })
    expect(world.events.at(-1)).toMatchObject({ type: 'apply.finished', inDoubt: 1, parts })
  })

  it('is one whose call can not be counted after it was sent', async () => {
    world.callsPerMinute = 30
    world.onSaveCalls = () => {
      if (world.log.includes(`answer ${a}`)) throw full
    }
    const result = await world.apply(world.plan({ [a]: desired }))
    expect(listDoubts()).toMatchObject([{ domains: [a] }])
    expect(result).toMatchObject({ inDoubt: 1, sent: true, unrecorded: 'the disk is full' })
  })

  it('is not one whose call can not be counted before it is sent', async () => {
    world.onSaveCalls = () => {
      if (world.log.includes('write.confirmed 1')) throw full
    }
    world.callsPerMinute = 1
    const result = await world.apply(world.plan({ [a]: desired, [b]: { timeout: { time: '7' } } }))
    expect(listDoubts()).toEqual([])
    expect(world.log).toContain('write.not-sent 2')
    expect(result).toMatchObject({ confirmed: 1, inDoubt: 0, notSent: 1, sent: true })
  })

  it('is the rest of a refused write whose bisection ends', async () => {
    const result = await world.apply(world.plan({ [a]: desired, [b]: desired }), (call) => ({
      outcome: call === 0 ? bad : doubt,
    }))
    expect(listDoubts()).toMatchObject([
      {
        domains: [a, b],
        items: ['connect_timeout', 'timeout'],
        message: 'a part of the refused write: the connection was reset',
      },
    ])
    expect(result).toMatchObject({ refused: 1, inDoubt: 0, parts: { refused: 0, inDoubt: 4 } })
  })

  it('is the rest of a bisected write whose parts can not be recorded', async () => {
    let [answered, saved] = [0, 0]
    world.onSave = () => {
      if (answered > 1 && saved++ === 1) throw full
    }
    await world.apply(world.plan({ [a]: desired }), (_call, _domains, items) => {
      answered++
      return { outcome: items.includes('timeout') ? bad : good }
    })
    expect(listDoubts()).toMatchObject([{ domains: [a], items: ['timeout'] }])
  })
})
