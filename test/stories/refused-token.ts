import { expect } from 'vitest'
import { startAnsweringService } from '../steps/answering-service.ts'
import type { Place } from '../steps/cli.ts'

/** Refusals of a service: HTTP status, message, and the advice to give. */
export const refusals: [http: number, message: string, hint: string][] = [
  [401, 'wrong token', 'check EDGEWISE_TOKEN (service.token in edgewise.yaml)'],
  [403, 'not allowed', 'check EDGEWISE_TOKEN (service.token in edgewise.yaml)'],
  [404, 'no such path', 'check service.url in edgewise.yaml'],
]

/**
 * Applies at a service that refuses every call: the apply ends, and nothing is in-doubt.
 *
 * @param enter creates a workspace for the address of a service
 */
export async function refuseToken(
  enter: (url: string) => Place,
  [http, message, hint]: (typeof refusals)[number],
): Promise<void> {
  const service = await startAnsweringService(() => [http, { code: http * 1000, message }])
  const place = enter(service.url)
  for (let i = 0; i < 9; i++) place.manifest(`d${i}.example.com`, { timeout: { time: 60 + i } })
  const { code, out, err } = await place.cli('apply', '--yes')
  expect(code).toBe(1)
  expect(out).toMatch(/[1-4] refused, [5-8] not sent/)
  expect(err).toMatch(/^not sent {3}[5-8] writes: for the same reason$/m)
  const text = `${out}${err}`.replace(/\s+/g, ' ')
  expect(text).toContain(`not accepted by ${service.url} (HTTP ${http}: ${message}): ${hint}`)
  expect(err.match(/not accepted by/g)).toHaveLength(1)
  expect(text).not.toMatch(/domains\/.*:\d+:\d+/)
  expect((await place.json('plan'))['changes']).toHaveLength(9)
  expect((await place.json('state', 'list'))['domains']).toEqual([])
}
