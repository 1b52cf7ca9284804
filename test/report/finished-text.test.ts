import { describe, expect, it } from 'vitest'
import {
  formatDoubts,
  formatFinished,
  formatUnrecorded,
} from '../../src/outlets/report/apply/text.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'

const none = { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0 }
const format = (more: object, exit: Parameters<typeof formatFinished>[1]) =>
  formatFinished(
    { type: 'apply.finished', stopped: null, ...none, parts: none, ...more },
    exit,
    plainPaint,
  )

describe('the last line of an apply', () => {
  it('says "Applied" if everything is confirmed and recorded', () => {
    expect(format({ confirmed: 4 }, 'done')).toBe('Applied; writes: 4 confirmed.')
    expect(format({}, 'done')).toBe('Applied; no write was needed.')
  })

  it('does not say "Applied" if outcomes are not recorded', () => {
    expect(format({ confirmed: 4 }, 'unrecorded')).toBe(
      'Not everything was recorded; writes: 4 confirmed.',
    )
    expect(format({ confirmed: 4 }, 'unshared')).toBe(
      'Applied, but not shared; writes: 4 confirmed.',
    )
  })

  it('does not say "Applied" if the rollout stopped after its last write', () => {
    expect(format({ confirmed: 4, stopped: 'wave 2 of 2: 5xx rose' }, 'incomplete')).toBe(
      'The rollout is not complete; writes: 4 confirmed. Stopped: wave 2 of 2: 5xx rose.',
    )
  })

  it('is one sentence with the next command after an interrupt', () => {
    const stopped = 'interrupted'
    const counts = {
      confirmed: 4,
      refused: 1,
      inDoubt: 2,
      notSent: 405,
      stopped,
      interrupted: 'writes',
    }
    expect(format(counts, 'incomplete')).toBe(
      'Interrupted: 4 of 412 writes confirmed, 1 refused, 2 in-doubt, 405 never sent; ' +
        '"edgewise apply" sends the rest.',
    )
    const again = { stopped: `${stopped}; apply again`, interrupted: 'rollout' }
    const rollout = { notSent: 1, unchanged: 3, ...again }
    expect(format(rollout, 'incomplete')).toBe(
      'Interrupted: 0 of 1 write confirmed, 1 never sent, 3 unchanged; ' +
        '"edgewise apply" resumes the rollout.',
    )
    const takenBack = { confirmed: 1, notSent: 1, takenBack: false, stopped: 'worse' }
    expect(format(takenBack, 'incomplete')).toMatch(/^Not everything was rolled back; /)
  })

  it('counts the items of domains if something was not confirmed', () => {
    expect(format({ refused: 1, parts: { ...none, confirmed: 2, refused: 1 } }, 'incomplete')).toBe(
      'Not everything was applied; writes: 1 refused (items of domains: 2 confirmed, 1 refused).',
    )
  })
})

describe('the error for outcomes that other machines do not see', () => {
  it('says whether they are recorded, and who shares them', () => {
    expect(formatUnrecorded('disk\u0007 full', false)).toBe(
      'some outcomes could not be recorded: disk\\u{7} full',
    )
    expect(formatUnrecorded('the remote is gone', true)).toBe(
      'the outcomes are recorded in this clone, but not shared: the remote is gone; the next ' +
        'command here that takes the lock shares them',
    )
  })
})

describe('the list of in-doubt writes', () => {
  const doubt = {
    id: 3,
    domains: Array.from({ length: 10 }, (_, i) => `d${i}.example.com`),
    items: ['https', 'timeout'],
    message: 'reset\u0007',
  }

  it('names every domain and item', () => {
    const [line, ...more] = formatDoubts([doubt])
    expect(line).toBe(`https, timeout of ${doubt.domains.join(', ')}: reset\\u{7}`)
    expect(more).toEqual([])
  })

  it('has every write, those with the same items and reason together', () => {
    const doubts = Array.from({ length: 15 }, (_, i) => ({
      domains: [`d${i}.example.com`],
      items: i === 7 ? ['https'] : ['timeout'],
      message: 'reset',
    }))
    const names = doubts.flatMap(({ domains }, i) => (i === 7 ? [] : domains))
    expect(formatDoubts(doubts)).toEqual([
      `timeout of ${names.join(', ')}: reset`,
      'https of d7.example.com: reset',
    ])
  })
})
