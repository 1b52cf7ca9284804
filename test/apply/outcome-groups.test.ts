import { expect, it } from 'vitest'
import { createOutcomeRecorder, type OutcomeGroup } from '../../src/engine/apply/run.ts'
import { createSerialQueue } from '../../src/state/store/serial-queue.ts'

/** Creates a recorder whose recordings end by hand, in their order. */
function createRecorder() {
  const recorded: number[][] = []
  const ends: { succeed(): void; fail(error: Error): void }[] = []
  const record = createOutcomeRecorder(createSerialQueue(), ({ writes }: OutcomeGroup) => {
    recorded.push(writes)
    return new Promise((succeed, fail) => {
      ends.push({ succeed, fail })
    })
  })
  const add = (write: number) => record({ writes: [write], moves: [], domains: new Map() })
  return { add, recorded, ends }
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

it('records outcomes that arrive during a recording together, in their order', async () => {
  const { add, recorded, ends } = createRecorder()
  const first = add(1)
  await settle()
  const later = [add(2), add(3), add(4)]
  await settle()
  expect(recorded).toEqual([[1]])
  ends[0]?.succeed()
  await first
  await settle()
  expect(recorded).toEqual([[1], [2, 3, 4]])
  ends[1]?.succeed()
  await Promise.all(later)
})

it('reports a failure to each outcome of the group, and to no other', async () => {
  const { add, recorded, ends } = createRecorder()
  const first = add(1)
  await settle()
  const later = [add(2), add(3)].map((done) => done.catch((error: Error) => error.message))
  ends[0]?.succeed()
  await first
  await settle()
  const last = add(4)
  ends[1]?.fail(new Error('disk full'))
  expect(await Promise.all(later)).toEqual(['disk full', 'disk full'])
  await settle()
  ends[2]?.succeed()
  await last
  expect(recorded).toEqual([[1], [2, 3], [4]])
})
