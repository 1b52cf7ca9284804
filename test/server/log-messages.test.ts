import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const sources = ['src/server', 'src/cli/serve.ts'].flatMap((path) =>
  path.endsWith('.ts')
    ? [path]
    : readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(path, name)),
)
/** First arguments of calls that log; those that are no text are of events. */
const calls =
  /(?:logger\.(?:debug|info|warn|error)\(|logFailure\([\w.]+, |onFault\(|report\()\s*([^,)]*)/g

it('each message of the log is a noun and what happened to it, with values in fields', () => {
  const messages = sources.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(calls)].flatMap(([, message = '']) =>
      /^[`']/.test(message) ? [[path, message]] : [],
    ),
  )
  expect(messages.length).toBeGreaterThan(40)
  for (const [path, message] of messages)
    expect([path, message]).toEqual([path, expect.stringMatching(/^'[a-z][\w ]*\w'$/)])
})
