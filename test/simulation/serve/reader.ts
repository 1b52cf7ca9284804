import type { IncomingMessage } from 'node:http'
import { route } from '../../../src/server/http/routes.ts'
import { createShares } from '../../../src/server/http/shares.ts'
import type { Answer } from '../../../src/server/http/answer.ts'
import type { Replica } from './serve-world.ts'

const token = 'a-long-token-for-tests'

/**
 * Reads the pages of a replica as plain text by their paths.
 *
 * @param maxSteps links from the overview to the last of them
 */
export async function readPages(replica: Replica, maxSteps = 2): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  let paths = ['/']
  for (let steps = 0; steps <= maxSteps; steps++) {
    const next: string[] = []
    for (const path of paths) {
      if (pages.has(path)) continue
      const html = await load(replica, path)
      pages.set(path, toPlainText(html))
      next.push(...listLinks(html))
    }
    paths = [...new Set(next)]
  }
  return pages
}

/** Asks a replica for a page as a browser with its token, until it is made. */
async function load({ controller, process }: Replica, path: string): Promise<string> {
  if (controller === null) throw new TypeError('expected a replica that answers')
  const { clock } = process
  const { signal } = new AbortController()
  const headers = { authorization: `Bearer ${token}` }
  const incoming = { url: path, method: 'GET', headers, socket: {} } as IncomingMessage
  const context = { controller, clock, token, webhookSecret: '', shares: createShares(clock) }
  for (;;) {
    const answer: Answer = await route(incoming, { ...context, signal })
    if (answer.status !== 202) return answer.body
    await clock.sleep(3000)
  }
}

/** Lists the paths of other pages that a page leads to. */
function listLinks(html: string): string[] {
  const all = [...html.matchAll(/ href="(\/[^"#?]*)/g)].map(([, path = '']) => path)
  return [...new Set(all)]
}

const entities: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

/** Elements that begin a line. */
const blocks = new RegExp(
  String.raw`</?(?:br|d[dlt]|details|div|form|h\d|header|li|nav|[ou]l|p|pre|section|summary|` +
    String.raw`t[rh])\b[^>]*>`,
  'g',
)

/** Writes a page as a person reads it: a line for each block, `[…]` for each button that works. */
function toPlainText(html: string): string {
  return html
    .replaceAll(/<(script|style|title)[^>]*>.*?<\/\1>/gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/<table.*?<\/table>/g, (table) => (table.includes('Share') ? '' : table))
    .replaceAll(/<button[^>]* disabled[^>]*>(.*?)<\/button>/g, '(not possible: $1)')
    .replaceAll(/<button[^>]*>(.*?)<\/button>/g, '[$1]')
    .replaceAll(/<a class="button[^>]*>(.*?)<\/a>/g, '[$1]')
    .replaceAll(/<a href="(\/[^"]*)"[^>]*>(.*?)<\/a>/g, '$2 (→ $1)')
    .replaceAll(blocks, '\n')
    .replaceAll(/<\/td>/g, ' | ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? '')
    .replaceAll(/ *\n\s*/g, '\n')
    .trim()
}
