import { expect, it } from 'vitest'
import type { ApplyEvent } from '../../src/core/model/events.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import { createLogDialogue } from '../../src/server/log-dialogue.ts'
import { createLogger } from '../../src/server/logger.ts'
import { buildStatistics } from '../health/statistics.ts'

it('a verdict is one short line of the log, without its curves', async () => {
  const lines: string[] = []
  const out = (line: string) => lines.push(line)
  const dialogue = createLogDialogue(
    createLogger({ clock: { now: () => 0 }, out, format: 'json', level: 'info' }),
  )
  const sample = { requests: 1, bad: 0 }
  const event: ApplyEvent = {
    type: 'wave.judged',
    time: 'now',
    wave: 1,
    verdict: 'worse',
    reason: 'rose',
    before: sample,
    after: sample,
    worse: [{ domain: 'a.example', before: sample, after: sample }],
    statistics: buildStatistics(Array(100).fill(1), Array(100).fill(2)),
  }
  const progress = await dialogue.startProgress({
    writes: 1,
    parts: new Map(),
    callsPerMinute: 30,
    inWaves: true,
  })
  progress.report(event, 7)
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      time: '1970-01-01T00:00:00.000Z',
      level: 'warn',
      message: 'wave.judged',
      wave: 1,
      verdict: 'worse',
      reason: 'rose',
      worse: 1,
      callsLeft: 7,
    },
  ])
  progress.report({ ...event, verdict: 'same-or-better', worse: [] }, 7)
  progress.report(
    { type: 'rollout.taking-back', time: 'now', apply: 'a', reason: '', writes: 1 },
    7,
  )
  const levels = lines.map((line) => (JSON.parse(line) as { level: string }).level)
  expect(levels).toEqual(['warn', 'info', 'warn'])
})

it('has no line for a plan, nor for an apply that sends nothing', async () => {
  const lines: string[] = []
  const clock = { now: () => 0 }
  const out = (line: string) => lines.push(line)
  const dialogue = createLogDialogue(createLogger({ clock, out, format: 'text', level: 'info' }))
  dialogue.show({ kind: 'plan', plan: {} as Plan })
  const begin = (writes: number, inWaves: boolean) =>
    dialogue.startProgress({ writes, parts: new Map(), callsPerMinute: 30, inWaves })
  const event: ApplyEvent = { type: 'wave.finished', time: 'now', wave: 1 }
  ;(await begin(0, false)).report(event, 7)
  expect(lines).toEqual([])
  // A rollout that goes on has news also where nothing is sent.
  ;(await begin(0, true)).report(event, 7)
  expect(lines).toHaveLength(1)
  const verified = { same: 2, notVerifiable: [], differs: [], unknown: 1, failure: null }
  dialogue.show({ kind: 'verified', verified })
  expect(lines[1]).toContain('writes verified same=2 notVerifiable=0 differs=0 unknown=1')
})

it('consents to plans, but not to releases by a workspace that never applied them', async () => {
  const logger = createLogger({
    clock: { now: () => 0 },
    out: () => undefined,
    format: 'json',
    level: 'info',
  })
  const { confirm } = createLogDialogue(logger)
  expect(await confirm({ kind: 'prune', applies: 1 })).toBe(true)
  await expect(
    confirm({ kind: 'release', items: 18, domains: 6, reason: 'a applied it' }),
  ).rejects.toMatchObject({
    code: 'guarded',
    message: '18 items of 6 domains to release: a applied it; nothing was sent',
    hint: expect.stringContaining('--allow-release') as string,
  })
})
