import type { Policed } from '../runtime/parts.ts'
import {
  createCoverTest,
  createKnownTest,
  countDaysLeft,
  type PolicyException,
} from '../../core/policy/exception.ts'
import type { Violation } from '../../core/policy/policy.ts'
import type { ExceptionState } from '../../core/policy/report.ts'
import { isObject } from '../../core/model/json.ts'
import {
  type DeclaredException,
  parseExceptions,
} from '../../manifest/policies/parse-exceptions.ts'
import { parseYaml } from '../../manifest/yaml/yaml-file.ts'
import { groupBy } from '../../core/model/lists.ts'

/** An exception with its tests. */
export interface CheckedException {
  exception: DeclaredException
  daysLeft: number
  /** Ended, or about no policy; null if it may count. */
  isOver: Extract<ExceptionState, 'expired' | 'unknown'> | null
  /** Why it does not count yet, if it does not. */
  waits: string
  covers(violation: Violation): boolean
  /** Tests whether the commit before already excepted a violation that it covers. */
  wasKnown(violation: Violation): boolean
}

/**
 * Checks the exceptions of a workspace: which have ended, and which were there in the commit that
 * the checked-out one is based on.
 *
 * @param names of the policies
 * @param now ms since 1970
 */
export async function loadExceptions(
  workspace: Policed,
  exceptions: DeclaredException[],
  names: ReadonlySet<string>,
  now: number,
): Promise<CheckedException[]> {
  if (exceptions.length === 0) return []
  const byPath = groupBy(exceptions, ({ document }) => document.file.path)
  const earlier = await workspace.loadEarlier([...byPath.keys()])
  const waits =
    'reason' in earlier
      ? `${earlier.reason}, so that it is not known whether it was there before`
      : `it was not in this file at commit ${earlier.commit.slice(0, 12)}`
  return [...byPath].flatMap(([path, own]) => {
    const text = 'reason' in earlier ? undefined : earlier.texts.get(path)
    const known = text === undefined ? [] : parseEarlier(path, text)
    return own.map((exception) => {
      const daysLeft = countDaysLeft(exception, now)
      return {
        exception,
        daysLeft,
        isOver: !names.has(exception.policy) ? 'unknown' : daysLeft === 0 ? 'expired' : null,
        waits,
        covers: createCoverTest(exception),
        wasKnown: createKnownTest(exception, known),
      }
    })
  })
}

/** Parses the exceptions that a file had; those of a document with a problem are left out. */
function parseEarlier(path: string, text: string): PolicyException[] {
  return parseYaml({ path, text }).documents.flatMap((document) => {
    const { value } = document
    if (!isObject(value)) return []
    const { domain, domains = domain } = value
    const listed = Array.isArray(domains) ? domains : domains === undefined ? null : [domains]
    const own = listed?.map((name) => String(name).toLowerCase()) ?? null
    return parseExceptions(value['except'], own, document).exceptions
  })
}
