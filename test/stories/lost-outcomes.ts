import { expect } from 'vitest'
import type { Place } from '../steps/cli.ts'

/** Applies where outcomes can't be recorded: they are named, and the next apply completes it. */
export async function loseOutcomes(place: Place, reason: RegExp, mend: () => void): Promise<void> {
  const { code, err, out } = await place.cli('apply', '--yes')
  expect({ code, err, out }).toMatchObject({
    code: 3,
    err: expect.stringContaining('some outcomes could not be recorded') as string,
  })
  const named = /in-doubt: \S+.* of [ab]\.example\.com.*: its outcome could not be recorded: /
  expect(err.replace(/\s+/g, ' ')).toMatch(new RegExp(named.source + reason.source))
  expect(out).not.toContain('Applied;')
  mend()
  expect((await place.cli('apply', '--yes')).err).toMatch(
    /Apply \S+ by \S+, started \S+, was interrupted with \d writes? in-doubt/,
  )
  expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
}

/**
 * Applies where the remote refuses the outcomes: they are in-doubt for another clone, until this
 * one shares them.
 */
export async function shareLater(
  [place, other]: [Place, Place],
  fail: () => void,
  reason: RegExp,
  mend: () => void,
): Promise<void> {
  for (const each of [place, other]) each.manifest('a.example.com', { timeout: { time: 10 } })
  place.onStderr = (text) => {
    if (text.includes('confirmed')) fail()
  }
  const { code, err, out } = await place.cli('apply', '--yes')
  place.onStderr = null
  const named = /the outcomes are recorded in this clone, but not shared: /
  expect([code, out, err.replace(/\s+/g, ' ')]).toEqual([
    3,
    expect.stringContaining('Applied, but not shared'),
    expect.stringMatching(new RegExp(named.source + reason.source)),
  ])
  mend()
  expect((await other.json('plan'))['changes']).toMatchObject([
    { domain: 'a.example.com', item: 'timeout', reason: 'in-doubt' },
  ])
  place.otherProcessesDead = true
  expect((await place.cli('apply', '--yes')).out).toContain('No changes')
  expect((await other.cli('plan', '--detailed-exitcode')).code).toBe(0)
}
