import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { resolve } from 'node:path'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isFault, loadBounded } from '../../files/load-bounded.ts'
import type { Signer } from '../../state/format/chain-entry.ts'
import type { StateOutside, Settings } from '../runtime/parts.ts'

/**
 * Creates the signer of the history; null without a key. An entry that can't be signed is recorded
 * without a signature, and noted: the next one that is signed proves it too.
 */
export function createSigner(
  { config }: Pick<Settings, 'config'>,
  outside: StateOutside,
): Signer | null {
  const { key } = config.sign
  if (key === undefined) return null
  return (entry) => {
    const signed = signByKey(entry, key.env, outside.env)
    if ('signature' in signed) return signed.signature
    outside.note?.(`The history is not signed: ${signed.fault}.`)
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

/**
 * Loads the public keys, and creates the test of signatures; null without a file of them.
 *
 * @throws EdgewiseError `usage` if the file has no usable key
 */
export function createVerifier({
  root,
  config,
}: Pick<Settings, 'root' | 'config'>): ((text: string, signature: Uint8Array) => boolean) | null {
  if (config.sign.public === undefined) return null
  const keys = loadKeys(root, config.sign.public)
  return (text, signature) => keys.some((key) => verify(null, Buffer.from(text), key, signature))
}

function loadKeys(root: string, path: string): KeyObject[] {
  const bytes = loadBounded(resolve(root, path), 65_536)
  const start = '-----BEGIN '
  const blocks = isFault(bytes) ? [] : bytes.toString('utf8').split(start).slice(1)
  // A private key has a public one too, but does not belong into this file.
  const keys = blocks.flatMap((block) =>
    block.startsWith('PUBLIC') ? (parseKey(() => createPublicKey(start + block)) ?? []) : [],
  )
  const usable = keys.filter(({ asymmetricKeyType }) => asymmetricKeyType === 'ed25519')
  if (usable.length > 0 && usable.length === blocks.length) return usable
  throw new EdgewiseError(
    'usage',
    `${path}: ${isFault(bytes) ? bytes.reason : 'expected only public Ed25519 keys in PEM'}`,
    'Write them there as "openssl pkey -pubout" prints them ("sign.public" in edgewise.yaml).',
  )
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
