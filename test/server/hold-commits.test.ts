import { expect, it } from 'vitest'
import { type Branch, holdCommits } from '../../src/server/branch/branch.ts'

it('commits are kept while work in them continues, also after a failure of another', async () => {
  const kept: string[][] = []
  const branch = holdCommits({
    checkOut: async (commit: string) => `/data/${commit}`,
    keepOnly: async (commits: string[]) => void kept.push(commits),
  } as Branch)
  const keep = () => branch.keepOnly(['new'])
  const failed = branch.hold('old', async (root) => {
    await keep()
    throw new Error(root)
  })
  const done = branch.hold('old', async () => {
    await expect(failed).rejects.toThrow('/data/old')
    await keep()
    return 'page'
  })
  expect(await done).toBe('page')
  await keep()
  expect(kept).toEqual([['new', 'old', 'old'], ['new', 'old'], ['new']])
})
