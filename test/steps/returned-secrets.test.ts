// @module-tag often
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { everyNth, itOften } from '../runs.ts'
import { startAnsweringService, type Answer } from './answering-service.ts'
import { Canaries, encodeForms } from './canary.ts'
import { Place, token } from './cli.ts'
import { returnedForms } from './secret-forms.ts'

/** One with the characters that encodings escape, and one that may become a number. */
const values = { SIGNING: 'key-canary-"three"/+&<3>=', ORIGIN: '739182645091' }
const www = 'www.example.com'
const config = {
  visit_timestamp: {
    pattern: '.*',
    time_format: 'timestamp',
    key: '${secret:signing}',
    deadtime: 60,
    req_uri_type: 1,
  },
  add_back_source_head: [{ head_name: 'Authorization', head_value: '${secret:origin}' }],
}
/** Configuration as a service returns it, with these values in place of the secrets. */
const returnConfig = (key: Json, header: Json, sent: JsonObject = config) => ({
  ...(sent['visit_timestamp'] === undefined
    ? {}
    : { visit_timestamp: { ...config.visit_timestamp, key } }),
  ...(sent['add_back_source_head'] === undefined
    ? {}
    : { add_back_source_head: [{ head_name: 'Authorization', head_value: header }] }),
})

let canaries: Canaries
beforeEach(() => {
  canaries = new Canaries(values)
})

/** Lists forms, each with a domain for it. */
const listForms = () =>
  everyNth(Object.values(returnedForms), 6).map((change, i) => ({
    change,
    domain: `d${i}.example.com`,
  }))

function createPlace(url: string, domains: string[]): Place {
  const place = new Place(url, 'secrets: {signing: {env: SIGNING}, origin: {env: ORIGIN}}\n', {
    limits: '{callsPerMinute: 10000, domainsPerWrite: 1}',
  })
  place.env = { EDGEWISE_TOKEN: token, ...values }
  for (const domain of domains) place.manifest(domain, config)
  return place.groupAsDocumented()
}

/** Runs commands, and scans their output and what they leave in the workspace. */
async function expectSealed(place: Place, ...commands: string[][]): Promise<string> {
  let output = ''
  for (const args of commands) {
    const { out, err } = await place.cli(...args)
    canaries.scanText(args.join(' '), `${out}\n${err}`)
    output += out + err
  }
  canaries.scanTree(place.root, ['observed'])
  expect(canaries.found).toEqual([])
  return output
}

itOften(
  'returned secrets are sealed in state and output, in whatever form they return',
  async () => {
    const forms = listForms()
    const answers = forms.map(({ change }): Answer => ({ domains, config: sent }) => {
      const { change: own = change } = forms.find(({ domain }) => domain === domains) ?? {}
      const returned = returnConfig(own(values.SIGNING), own(values.ORIGIN), sent as JsonObject)
      return [200, { code: 0, data: { config: returned } }]
    })
    const { url } = await startAnsweringService(...(answers as [Answer, ...Answer[]]))
    const place = createPlace(
      url,
      forms.map(({ domain }) => domain),
    )
    const output = await expectSealed(
      place,
      ['apply', '--yes', '--json'],
      ...forms.flatMap(({ domain }) => [
        ['show', domain, '--json'],
        ['show', domain],
      ]),
      ['plan', '--out', 'plan.json'],
      ['drift', '--json'],
    )
    expect(output).toContain('"rewritten":["visit_timestamp"]')
  },
)

itOften('a refusal of a write with a secret shows status, code and known names only', async () => {
  const changed = Object.values(returnedForms).map((change) =>
    JSON.stringify(change(values.SIGNING)),
  )
  const encoded = encodeForms(values.SIGNING).map(([, text]) => text)
  const { url } = await startAnsweringService(
    () => [400, { code: 7, message: `visit_timestamp: bad key ${changed.join(' and ')}` }],
    () => [400, { code: 7, message: `visit_timestamp: bad key ${encoded.join(' and ')}` }],
    () => [503, { code: 9, message: `no ${changed.join(' and ')}` }],
    () => [401, { code: 9, message: `no ${changed.join(' and ')}` }],
  )
  const place = createPlace(url, [www])
  const output = await expectSealed(place, ['apply', '--yes', '--json'], ['apply', '--yes'])
  expect(output).toContain(
    'HTTP 400, code 7, visit_timestamp, key (message withheld: may quote a secret)',
  )
})

itOften('a refusal of a write without a secret is shown whole', async () => {
  const message = `timeout of ${www}: expected at most 50`
  const { url } = await startAnsweringService(() => [400, { code: 7, message }])
  const place = createPlace(url, [])
  place.env = { EDGEWISE_TOKEN: 'x' }
  place.manifest(www, { timeout: { time: 60 } })
  const { out } = await place.cli('apply', '--yes', '--json')
  expect(out).toContain(`"message":"${message}"`)
})

itOften(
  'observed and imported secrets are sealed, in whatever form they are observed',
  async () => {
    const forms = listForms()
    const { url } = await startAnsweringService(({ config: sent }) => [
      200,
      { code: 0, data: { config: sent ?? {} } },
    ])
    const domains = forms.map(({ domain }) => domain)
    const place = createPlace(url, domains)
    const observed = forms.map(({ change, domain }): [string, JsonObject] => [
      domain,
      returnConfig(change(values.SIGNING), change(values.ORIGIN)),
    ])
    place.write('observed/all.json', JSON.stringify(Object.fromEntries(observed)))
    for (const [domain, found] of observed)
      place.write(`observed/${domain}.json`, JSON.stringify({ [domain]: found }))
    const source = join(place.root, 'observed/all.json')
    const output = await expectSealed(
      place,
      ...domains.flatMap((domain) => [
        ['import', join(place.root, `observed/${domain}.json`), '--replace', '--json'],
        ['show', domain, '--json'],
      ]),
      ['apply', '--yes'],
      ['drift', '--observed', source, '--json', '-v'],
      ['drift', '--observed', source, '--report', 'drift.md', '--report', 'drift.html'],
      ['drift', '--observed', source, '--repair', '--yes'],
    )
    expect(output).toContain('scrypt:')
    // Without the manifests, the recorded state shows where the secrets are.
    for (const domain of domains) rmSync(join(place.root, `domains/${domain}.yaml`))
    await expectSealed(
      place,
      ...domains.map((domain) => [
        'import',
        join(place.root, `observed/${domain}.json`),
        '--replace',
        '--write-manifests',
      ]),
    )
  },
)
