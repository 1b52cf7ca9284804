// @module-tag often
// @module-tag nightly

import { ended } from '../server/replica.ts'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { place, setStage } from '../steps/stage.ts'
import {
  commit,
  configure,
  enterServed,
  git,
  listSent,
  name,
  setServeStage,
  start,
} from '../server/serve-stage.ts'

setStage()
setServeStage()

it('resumes a rollout that has released a domain, and whose commit was forced away', async () => {
  enterServed('rollout: {waves: [1, 2, 100%], pause: 6s}\n')
  configure(5, 60)
  commit()
  expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
  configure(5, 70)
  rmSync(join(place.root, `domains/${name(0)}.yaml`))
  commit()
  const targets = [0, 1, 2, 3, 4].flatMap((i) => ['--target', name(i)])
  const begun = await place.cli('apply', '--yes', '--no-wait', '--item', 'timeout', ...targets)
  expect(begun.out).toContain('The rollout resumes later')
  git('commit', '--quiet', '--amend', '--message', 'The same manifests')
  git('reflog', 'expire', '--expire=now', '--all')
  git('gc', '--quiet', '--prune=now')
  const last = git('rev-parse', 'HEAD')
  const replica = await start()
  await replica.waitFor(ended(last, 'done'))
  expect(await listSent()).toEqual([5, 1, 1, 2])
  expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
})
