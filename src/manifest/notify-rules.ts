import type { NotifyConfig } from '../model/config.ts'
import type { Json } from '../model/json.ts'
import { isLoopback } from '../model/loopback.ts'
import { parseUrl } from '../model/parse-url.ts'
import type { Finding } from './finding.ts'
import { listVariables } from './workspace-env.ts'
import { createWorkspaceFinding as createFinding } from './workspace-shape.ts'

/**
 * Checks the receivers of notifications. An address may be a secret, so no text shows it.
 *
 * @param find returns the value that the file itself has at a pointer
 */
export function checkNotify(
  receivers: NotifyConfig[],
  find: (pointer: string) => Json | undefined,
): Finding[] {
  return receivers.flatMap(({ kind, url, secret }, i) => {
    const pointer = `/notify/${i}`
    const findings: Finding[] = []
    const fault = url === '' && isReference(find(`${pointer}/url`)) ? null : findUrlFault(url)
    if (fault !== null) findings.push(createFinding(`${pointer}/url`, fault))
    if (secret !== undefined && kind !== 'webhook')
      findings.push(
        createFinding(`${pointer}/secret`, '"secret" is valid only with "kind: webhook".', 'key'),
      )
    else if (secret !== undefined && !isReference(find(`${pointer}/secret`)))
      findings.push(
        createFinding(
          `${pointer}/secret`,
          'the key must come from an environment variable: write "secret: ${env:NAME}". ' +
            'Replace it at the receiver if this file was ever shared.',
        ),
      )
    return findings
  })
}

function isReference(written: Json | undefined): boolean {
  return typeof written === 'string' && listVariables(written).length > 0
}

function findUrlFault(text: string): string | null {
  const url = parseUrl(text)
  if (url === null || /[\s\p{Cc}]/u.test(text))
    return 'expected an address that begins with https://.'
  if (url.protocol === 'https:') return null
  if (url.protocol === 'http:' && isLoopback(url.hostname)) return null
  return (
    'expected an address that begins with https:// (http:// for this machine only): others on ' +
    'the network could read the messages.'
  )
}
