import { existsSync } from 'node:fs'
import { mutate, type Mutation } from './list.ts'
import type { Mode, Scratch, Verdict, Which } from './scratch.ts'

/** Result of a mutation: which test found it, if any. */
export interface Result {
  mutation: Mutation
  /** Which tests found it; null: none. */
  by: Mode | null
  /** The test that failed, or what else was wrong. */
  test: string
  /** Whether that test fails without the mutation too, so that nothing is known. */
  isUnsure: boolean
}

/**
 * Applies a mutation, and runs the tests: of the folders that are called as its rooms, then those
 * that reach the file, then the others; after them the longer checks in the same order.
 */
export async function tryMutation(
  scratch: Scratch,
  path: string,
  mutation: Mutation,
  modes: Mode[],
): Promise<Result> {
  const before = scratch.read(path)
  scratch.write(path, mutate(before, mutation) ?? before)
  try {
    if (!(await scratch.build()))
      return { mutation, by: 'npm test', test: 'the build', isUnsure: false }
    for (const mode of modes) {
      const found = await findFailure(scratch, path, mode)
      if (found === null) continue
      scratch.write(path, before)
      const isUnsure = await failsAnyway(scratch, mode, found.file)
      return { mutation, by: mode, test: `${found.file}: ${found.failed}`, isUnsure }
    }
    return { mutation, by: null, test: '', isUnsure: false }
  } finally {
    scratch.write(path, before)
  }
}

type Failure = Extract<Verdict, { failed: string }>

async function findFailure(scratch: Scratch, path: string, mode: Mode): Promise<Failure | null> {
  const all = await scratch.listFiles(mode)
  const ran = new Set<string>()
  const stages: (() => Which)[] = [
    () => ({ files: all.filter((file) => isNear(scratch, path, file)) }),
    () => ({ related: path, but: [...ran] }),
    () => ({ files: all.filter((file) => !ran.has(file)) }),
  ]
  for (const choose of stages) {
    const which = choose()
    if ('files' in which && which.files.length === 0) continue
    const verdict = await scratch.test(mode, which)
    if ('failed' in verdict) return verdict
    for (const file of verdict.passed) ran.add(file)
  }
  return null
}

/** Whether a test stands in a folder that has the name of a room of the source, or sees all. */
function isNear({ root }: Scratch, path: string, file: string): boolean {
  const rooms = path.split('/').slice(1, -1)
  if (file.startsWith('test/long/recordings-of-')) return true
  return rooms.some(
    (room) => existsSync(new URL(`test/${room}/`, root)) && file.startsWith(`test/${room}/`),
  )
}

/** Test files that passed without a mutation; a test that always fails finds nothing. */
const sound = new Set<string>()

async function failsAnyway(scratch: Scratch, mode: Mode, file: string): Promise<boolean> {
  if (file === '' || sound.has(`${mode} ${file}`)) return false
  if ('failed' in (await scratch.test(mode, { files: [file] }))) return true
  sound.add(`${mode} ${file}`)
  return false
}
