import { afterEach, beforeEach, expect, it } from 'vitest'
import { tools } from '../../src/cli/mcp/server.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { createGuesses, expectNothingLearnt, guessed } from '../guesses.ts'
import { itOften, long, runs } from '../runs.ts'
import { emulator, place, setStage } from '../steps/stage.ts'
import { connectAgent, type Agent } from './agent.ts'

const www = 'www.example.com'

// It answers with the names of domains that it does not know.
setStage({ token: guessed, domains: [www] })

let agent: Agent

beforeEach(async () => {
  place.env = { ...place.env, EDGEWISE_TOKEN: guessed, SIGNING: 'another-0-secret' }
  place.configure('secrets: {signing: {env: SIGNING}}')
  place.manifest(www, {
    timeout: { time: 60 },
    visit_timestamp: {
      pattern: '.*',
      time_format: 'timestamp',
      key: '${secret:signing}',
      deadtime: 1800,
      req_uri_type: 1,
    },
  })
  place.write('tests/www.yaml', `test: it\ndomains: [${www}]\nitems: {timeout/time: '60'}\n`)
  await place.settle()
  agent = await connectAgent(place)
})
afterEach(async () => {
  expect(agent.defects).toEqual([])
  await agent.close()
})

/** Arguments that a call needs beside the one with the guess. */
const needed: Record<string, JsonObject> = {
  show: { domain: www },
  trace: { requests: [`https://${www}/`] },
}

/** Values with a guess of arguments that are no plain texts or lists of them. */
const structured: Record<string, (guess: string) => unknown[]> = {
  observed: (guess) => [
    { [www]: { timeout: { time: guess } } },
    { [www]: { timeout: { time: '60', [guess]: '1' }, [guess]: {} } },
    { [www]: { add_response_head: { type: 'reset', list: [{ name: 'X', value: guess }] } } },
    { [www]: { extend: { squid: guess } }, [guess]: {} },
    { [`${guess}.example.com`]: { timeout: { time: '60' } } },
  ],
  assume: (guess) => [{ R3: guess }, { [guess]: 'x' }],
  requests: (guess) => [
    [`https://${www}/${guess}?a=${guess}`],
    [`https://${guess}.example.com/`],
    [guess],
    [{ url: `https://${www}/`, headers: { Referer: guess }, [guess]: 1 }],
    [{ url: `https://${www}/`, headers: { [guess]: 'x' }, ip: guess }],
  ],
  edits: (guess) => [
    [{ domain: www, item: 'timeout', value: { time: guess } }],
    [{ domain: www, item: guess, value: { [guess]: 1 } }],
    [{ domain: guess, item: 'timeout', value: { time: 61 } }],
  ],
}

/** Calls that need several arguments with a guess. */
const joined: [name: string, args: (guess: string) => JsonObject][] = [
  ['propose', (guess) => ({ file: 'domains/a.yaml', text: `domain: a.example.com\n# ${guess}\n` })],
  ['propose', (guess) => ({ file: `domains/${guess}.yaml`, text: `domain: ${guess}\n` })],
  ['propose', (guess) => ({ file: `domains/www.example.com.yaml`, text: `x: ${guess}\n` })],
  ['show', (guess) => ({ domain: www, [guess]: 1 })],
  ['show', (guess) => ({ domain: www, cursor: guess })],
  [`no such tool`, (guess) => ({ [guess]: guess })],
]

/** Lists all calls with a guess: each argument of each tool, in each form that it may have. */
function listCalls(guess: string): [where: string, name: string, args: JsonObject][] {
  const calls = tools.flatMap(({ name, properties }) =>
    Object.entries(properties).flatMap(([key, schema]) => {
      const own = structured[key]
      const isText = schema['type'] === 'string' && schema['enum'] === undefined
      const isList = schema['type'] === 'array'
      if (own === undefined && !isText && !isList) {
        expect([name, key, schema['type']]).toEqual([
          name,
          key,
          expect.stringMatching(/^(?:boolean|integer|string)$/),
        ])
        return []
      }
      const values = own?.(guess) ?? (isList ? [[guess], [`${guess}.example.com`]] : [guess])
      return values.map((value): [string, string, JsonObject] => [
        `${name} ${key}`,
        name,
        { ...needed[name], [key]: value as Json },
      ])
    }),
  )
  const others = joined.map(([name, args]): (typeof calls)[number] => [name, name, args(guess)])
  const own = `${guess}-tool`
  return [...calls, ...others, ['name of a tool', own, {}]]
}

itOften('no tool says whether a text has a part of a secret', async () => {
  const places = listCalls('').length
  let asked = 0
  for (let number = 0; number < runs(1, 20); number++)
    for (const guess of createGuesses(number).slice(0, long ? undefined : 1)) {
      for (let at = 0; at < places; at++) {
        const [where = ''] = listCalls('')[at] ?? []
        await expectNothingLearnt(where, guess, async (text) => {
          const [, name = '', args = {}] = listCalls(text)[at] ?? []
          asked++
          const { texts } = await agent.call(name, args)
          return texts.join('\n')
        })
      }
    }
  expect(asked).toBeGreaterThan(runs(100, 10_000))
  // It knows the secrets, and replaces them where they are whole.
  const whole = await agent.call('show', { domain: guessed })
  expect(whole.texts.join()).toContain('(token)')
  expect(emulator.url).toMatch(/^http/)
})

it('a manifest that who asks has written says nothing about secrets', async () => {
  for (const guess of createGuesses(1))
    await expectNothingLearnt('manifest', guess, async (text) => {
      place.manifest(www, {
        timeout: { time: text },
        add_response_head: { type: 'reset', list: [{ name: 'X', value: text }] },
        [text]: {},
      })
      const answers = [await agent.call('validate'), await agent.call('plan')]
      place.manifest(www, {
        add_response_head: { type: 'reset', list: [{ name: 'X', value: text }] },
      })
      answers.push(await agent.call('plan'), await agent.call('show', { domain: www }))
      return answers.flatMap(({ texts }) => texts).join('\n')
    })
})
