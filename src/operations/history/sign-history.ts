import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { resolve } from 'node:path'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isFault, loadBounded } from '../../files/load-bounded.ts'
import { runCommand } from '../../manifest/secrets/run-command.ts'
import type { Signer } from '../../state/format/chain-entry.ts'
import type { StateOutside } from '../runtime/outside.ts'
import type { Settings } from '../runtime/workspace-parts.ts'

/** What signing needs of a workspace. */
type SigningWorkspace = Pick<Settings, 'root' | 'config' | 'buildProgramEnvironment'>

/** Maximum size of a file of public keys, bytes. */
const maxKeyBytes = 65_536

/**
 * Creates the signer of the history; null without a key. An entry that can't be signed is recorded
 * without a signature, and noted: the next one that is signed proves it too.
 */
export function createSigner(
  workspace: SigningWorkspace,
  outside: Pick<StateOutside, 'env' | 'signal' | 'note'>,
): Signer | null {
  const { key, command } = workspace.config.sign
  if (key === undefined && command === undefined) return null
  let isNoted = false
  return async (entry) => {
    const signed =
      key === undefined
        ? await signByCommand(entry, command ?? [], workspace, outside)
        : signByKey(entry, key.env, outside.env)
    if ('signature' in signed) return signed.signature
    if (!isNoted) outside.note?.(`The history is not signed: ${signed.fault}.`)
    isNoted = true
    return null
  }
}

/** A signature in base64, or in a clause why there is none. */
type Signed = { signature: string } | { fault: string }

function signByKey(entry: string, variable: string, env: StateOutside['env']): Signed {
  const pem = env[variable] ?? ''
  if (pem.trim() === '') return { fault: `the variable ${variable} of its key is not set` }
  const key = parseKey(() => createPrivateKey(pem))
  if (key?.asymmetricKeyType !== 'ed25519')
    return { fault: `the variable ${variable} has no Ed25519 key in PEM` }
  return { signature: sign(null, Buffer.from(entry), key).toString('base64') }
}

async function signByCommand(
  entry: string,
  command: string[],
  { root, buildProgramEnvironment }: SigningWorkspace,
  { signal }: Pick<StateOutside, 'signal'>,
): Promise<Signed> {
  const env = buildProgramEnvironment()
  const ran = await runCommand(root, command, { env, signal, input: entry, isDetached: true })
  if ('fault' in ran) return ran
  const text = ran.text.replaceAll(/\s+/g, '')
  const signature = Buffer.from(text, 'base64').toString('base64')
  return text !== '' && signature === text
    ? { signature }
    : { fault: `the command "${command[0] ?? ''}" printed no signature in base64` }
}

/**
 * Loads the public keys, and creates the test of signatures; null without keys. An Ed25519 key is
 * used as it is, others with SHA-256.
 *
 * @throws EdgewiseError `usage` if the file has no usable key
 */
export function createVerifier(
  { root, config: { sign: given } }: Pick<Settings, 'root' | 'config'>,
  env: StateOutside['env'],
): ((text: string, signature: Buffer) => boolean) | null {
  const keys =
    given.public === undefined ? derive(given.key?.env, env) : loadKeys(root, given.public)
  if (keys.length === 0) return null
  return (text, signature) =>
    keys.some((key) => {
      const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
      return verify(hash, Buffer.from(text), key, signature)
    })
}

/** Derives the public key from the private one, where that is there. */
function derive(variable: string | undefined, env: StateOutside['env']): KeyObject[] {
  const pem = variable === undefined ? '' : (env[variable] ?? '')
  const key = pem === '' ? null : parseKey(() => createPublicKey(pem))
  return key === null ? [] : [key]
}

function loadKeys(root: string, path: string): KeyObject[] {
  const fail = (why: string) =>
    new EdgewiseError(
      'usage',
      `the public keys in ${path} can't be used: ${why}`,
      'Write them there in PEM, as "openssl pkey -pubout" prints them ("sign.public").',
    )
  const bytes = loadBounded(resolve(root, path), maxKeyBytes)
  if (isFault(bytes)) throw fail(bytes.reason)
  const blocks = bytes.toString('utf8').split(/(?=-----BEGIN )/)
  return blocks
    .filter((block) => block.startsWith('-----BEGIN '))
    .concat(blocks.some((block) => block.startsWith('-----BEGIN ')) ? [] : [''])
    .map((block, i) => {
      const key = block.includes('PRIVATE') ? null : parseKey(() => createPublicKey(block))
      if (key === null) throw fail(`key ${i + 1} is not a public key in PEM`)
      return key
    })
}

/** Parses a key; null if it is not one. The error of the parser may quote the key. */
function parseKey(parse: () => KeyObject): KeyObject | null {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return null
  }
}
