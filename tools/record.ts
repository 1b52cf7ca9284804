/**
 * Writes the recordings of `test/recordings` anew: of each command of about 300 workspaces, the
 * hashes of what it prints, sends and writes. Prints what differs from those before.
 *
 * `--check` writes nothing and fails for differences; so does `--only NAME`, which runs the
 * workspaces whose names contain it. `--save DIR` also writes the whole texts there, so that
 * `diff -r` compares two trees.
 */
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { parseOptions } from './launch.ts'

const { check, only, save } = parseOptions({}, ['check'], ['only', 'save'])
const given = {
  write: !check && only === undefined,
  ...(only === undefined ? {} : { only }),
  ...(save === undefined ? {} : { save: resolve(save) }),
}
const { status } = spawnSync('npx', ['vitest', 'run', 'test/long/recordings-of-'], {
  stdio: 'inherit',
  env: { EDGEWISE_TEST_RUNS: '0.1', ...process.env, EDGEWISE_RECORD: JSON.stringify(given) },
})
process.exitCode = status ?? 1
