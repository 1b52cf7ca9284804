/**
 * Before each file, for the whole worker: a hash of all its arguments replaces `scryptSync`, which
 * is slow by design, and `fsync` waits for no disk, since what tests write need not outlive the
 * machine. State and cache of the user go to a temporary folder. After each test, a simulation that
 * it has left is ended: what comes next in the worker would be sealed, too.
 */
import nodeCrypto from 'node:crypto'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { scrypt } from './scrypt.ts'
import { endLeftSimulation } from './simulation/seal.ts'

afterEach(endLeftSimulation)

const known = Symbol.for('edgewise.scrypt')
if (!(known in nodeCrypto.scryptSync)) {
  const keys = new Map<string, ReturnType<typeof nodeCrypto.scryptSync>>()
  const real = nodeCrypto.scryptSync
  const quick: typeof real = (...given) => {
    const name = JSON.stringify(given)
    if (!scrypt.isReal)
      return nodeCrypto.createHash('shake256', { outputLength: given[2] }).update(name).digest()
    const key = keys.get(name) ?? real(...given)
    keys.set(name, key)
    return Buffer.from(key)
  }
  const userState = fs.mkdtempSync(join(tmpdir(), 'edgewise-user-state-'))
  process.env['XDG_STATE_HOME'] = userState
  process.env['XDG_CACHE_HOME'] = userState
  process.once('exit', () => fs.rmSync(userState, { recursive: true, force: true }))
  nodeCrypto.scryptSync = Object.assign(quick, { [known]: true })
  fs.fsyncSync = () => {}
  fs.fsync = Object.assign((_file: number, done: fs.NoParamCallback) => setImmediate(done, null), {
    __promisify__: async () => {},
  })
  syncBuiltinESMExports()
}
