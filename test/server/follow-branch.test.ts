import { expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { createFollower, findWait } from '../../src/server/branch/follow-branch.ts'
import { createLogger } from '../../src/server/logger.ts'

const [first, second] = ['a'.repeat(40), 'b'.repeat(40)] as [string, string]
const minute = 60_000

/** Creates a follower of a branch whose answers the test gives, one for each fetch. */
function stageFollower(answers: (string | Error)[]) {
  const ended = new AbortController()
  const done: string[] = []
  const waits: number[] = []
  const lines: string[] = []
  const follower = createFollower({
    outside: {
      clock: {
        now: () => 0,
        monotonic: () => 0,
        sleep: async (ms) => {
          waits.push(ms)
          if (answers.length === 0) ended.abort()
        },
      },
      signal: ended.signal,
    },
    branch: {
      fetch: async () => {
        const answer = answers.shift()
        if (typeof answer === 'string') return answer
        throw answer
      },
      checkOut: async (commit) => {
        done.push(`check out ${commit[0]}`)
        if (commit === second) throw new EdgewiseError('not-a-workspace', 'no edgewise.yaml', '')
        return ''
      },
      isAncestor: async () => false,
      keepOnly: async (commits) => void done.push(`keep ${commits.map((each) => each[0]).join()}`),
    },
    pollMs: minute,
    logger: createLogger({
      clock: { now: () => 0 },
      out: (line) => void lines.push(line),
      format: 'text',
      level: 'info',
    }),
    metrics: { setFetched: () => undefined },
    watch: (work) => work(),
    onTip: (commit) => void done.push(`tip ${commit[0]}`),
    onFailure: (error) => void done.push(error instanceof Error ? error.message : ''),
    listUsed: () => ['c'],
  })
  return { follower, done, waits, lines }
}

it('prepares each new tip, and keeps nothing else; an unchanged one costs a fetch', async () => {
  const { follower, done, lines } = stageFollower([first, first, second])
  await follower.follow()
  expect(done).toEqual([
    'check out a',
    'tip a',
    'keep a,c',
    'tip a',
    'check out b',
    'tip b',
    'keep b,c',
  ])
  expect(lines.filter((line) => line.includes('branch forced'))).toHaveLength(1)
})

it('tells when the next fetch has ended, or failed', async () => {
  const { follower, done } = stageFollower([first, new Error('away'), first])
  const told = follower.refresh().then(() => done.push('told'))
  await follower.follow()
  await told
  expect(done.slice(0, 4)).toEqual(['check out a', 'tip a', 'keep a,c', 'told'])
})

it('fetches less and less often while it fails', async () => {
  const failures = Array.from({ length: 5 }, () => new Error('away'))
  const { follower, done, waits } = stageFollower([...failures, first, new Error('away')])
  await follower.follow()
  expect(waits).toEqual([1, 2, 4, 5, 5, 1, 1].map((minutes) => minutes * minute))
  expect(done.filter((each) => each === 'away')).toHaveLength(6)
})

it('never fetches more often than asked, nor after a wait that no timer has', () => {
  expect(findWait(10 * minute, 100)).toBe(10 * minute)
  expect(findWait(5000, 3)).toBe(20_000)
  expect(findWait(5000, 1000)).toBe(5 * minute)
})
