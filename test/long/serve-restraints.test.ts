// @module-tag often

import { ended } from '../server/replica.ts'
import { expect, it } from 'vitest'
import { place, setStage } from '../steps/stage.ts'
import {
  commit,
  configure,
  enterServed,
  listSent,
  name,
  setServeStage,
  start,
} from '../server/serve-stage.ts'

setStage()
setServeStage()

const policy = 'policy: slow\non: domain\ndeny: config.timeout.time == 70\nmessage: no\n'

it.each([
  ['edgewise.yaml', `guards: {protect: ["${name(0)}"]}\n`, '', 'protect: '],
  ['edgewise.yaml', 'guards: {maxDomains: 1}\n', 'guards: {maxDomains: 9}\n', 'maxDomains: '],
  ['policies/slow.yaml', `${policy}level: hard\n`, `${policy}level: advisory\n`, 'slow (hard)'],
])('a commit does not lift what restrains it: %s, %s → %s', async (path, strict, loose, why) => {
  enterServed()
  configure(2, 60)
  commit()
  const replica = await start()
  await replica.waitFor(ended('', 'done'))
  const before = path === 'edgewise.yaml' ? place.read(path) : ''
  const apply = async (more: string, seconds: number, end: string): Promise<void> => {
    place.write(path, before + more)
    configure(2, seconds)
    await replica.waitFor(ended(commit(), end))
  }
  await apply(strict, 60, 'done')
  await apply(loose, 70, 'failed')
  expect(replica.err).toContain(why)
  expect(replica.err).toContain('Merge that alone first')
  expect(await listSent()).toEqual([2])
  // The next commit.
  await apply(`${loose}# next\n`, 70, 'done')
  expect(await listSent()).toEqual([2, 2])
})
