import type { CacheRule, Origin } from '../../src/core/catalog/generated/items.ts'
import { castAccepted } from '../../src/core/catalog/item-spec.ts'
import { isSecret, type Plain } from '../../src/core/model/secret.ts'
import { matchAddress } from '../../src/core/trace/match/address.ts'
import { Unknown } from '../../src/core/trace/answer.ts'
import { readPlain } from '../../src/core/trace/secret-text.ts'

/** Nothing here is run: the type checker is the test. Each marked line must be an error. */
export function takeSecretsForTexts(): string[] {
  const [rule] = castAccepted<CacheRule>([])
  const origin = castAccepted<Origin>({})
  const { pattern } = rule ?? { pattern: '' }
  // @ts-expect-error a secret can't be split
  pattern.split(',')
  // @ts-expect-error a secret is no regular expression
  const regex = new RegExp(pattern)
  // @ts-expect-error a secret is no address
  matchAddress(origin.default_master, '192.0.2.1')
  // @ts-expect-error a list with a secret is no list of texts
  const texts: string[] = [pattern, origin.default_slave ?? '']
  // @ts-expect-error a value with secrets is none without
  const plain: Plain<Origin> = origin
  const text = readPlain(pattern)
  // @ts-expect-error a text that may depend on a secret may be unknown
  text.split(',')
  if (text instanceof Unknown || isSecret(pattern)) return [plain.default_master, regex.source]
  return [...text.split(','), ...pattern.split(','), ...texts]
}
