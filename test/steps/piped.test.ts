// @module-tag often
import { beforeEach, expect, it } from 'vitest'
import { runProgram } from '../program.ts'
import { place, setStage } from './stage.ts'

setStage()

const word = 'a text that does not fit into eighty columns of a terminal '

const pipe = async (...args: string[]) => (await runProgram(place, ...args)).out

beforeEach(() => {
  for (let i = 0; i < 30; i++)
    place.manifest(`d${i}.example.com`, {
      timeout: { time: 60 + i },
      connect_timeout: { origin_connect_timeout: 6 + i },
      extend: { squid: word.repeat(3) },
    })
})

it.each([
  ['plan', ['plan']],
  ['apply', ['apply', '--yes', '--allow', 'extend']],
])('a long %s in a pipe is not wrapped, and has its summary once', async (_name, args) => {
  const out = await pipe(...args)
  expect(out.split('\n').length).toBeGreaterThan(20)
  expect(out.match(/^Plan: /gm)).toHaveLength(1)
  expect(out).toContain(`"${word.repeat(3)}"`)
  expect(out).toContain(
    Array.from({ length: 30 }, (_, i) => `d${i}.example.com`)
      .toSorted()
      .join(', '),
  )
})

it('drift and validate in a pipe are not wrapped', async () => {
  expect((await place.cli('apply', '--yes', '--allow', 'extend')).code).toBe(0)
  place.manifest('d1.example.com', { extend: { squid: `${word.repeat(3)}!` } })
  const drift = await pipe('drift')
  expect(drift).toContain(`${word.repeat(3)}!`)
  expect(drift.match(/^Drift: /gm)).toHaveLength(1)
  place.manifest('d1.example.com', { origin_host: { host: 'a b' } })
  expect(await pipe('validate')).toMatch(/^ {2}expected a domain name such as .* got "a b"$/m)
})

it('COLUMNS is the width of text in a pipe', async () => {
  place.env['COLUMNS'] = '60'
  const lines = (await pipe('plan')).split('\n')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60)
})
