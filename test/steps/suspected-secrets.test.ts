import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { place, setStage } from './stage.ts'

setStage()

const www = 'www.example.com'
const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'
const key = '9f8e7d6c5b4a39281706f5e4d3c2b1a0'

const response = (name: string, value: string) => ({
  add_response_head: { list: [{ name, value }] },
})
const request = (head_name: string, head_value: string) => ({
  add_back_source_head: [{ head_name, head_value }],
})
const control = (head: string, value: string) => ({
  head_control: {
    list: [{ regex: '.*', head_op: 'ADD', head_direction: 'SER_REQ', head, value, order: 1 }],
  },
})

async function validate(config: JsonObject): Promise<unknown[]> {
  place.manifest(www, config)
  const { diagnostics } = await place.json('validate')
  return (diagnostics as Record<string, string>[]).map(
    ({ code, severity }) => `${severity} ${code}`,
  )
}

describe('a header with a literal credential', () => {
  it.each<[JsonObject, string]>([
    [request('Authorization', `Bearer ${jwt}`), jwt],
    [request('authorization', 'Basic dXNlcjpwYXNz'), 'dXNlcjpwYXNz'],
    [request('Authorization', 'hunterhunter'), 'hunterhunter'],
    [request('Proxy-Authorization', 'Digest username=abc'), 'username=abc'],
    [response('X-Api-Key', key), key],
    [response('X-Anything', jwt), jwt],
    [response('X-Origin-Auth-Token', key), key],
    [control('X-Secret', key), key],
    [control('apikey', key), key],
  ])('is warned of by validate without its value: %j', async (config, secret) => {
    expect(await validate(config)).toEqual(['warning secret-suspected'])
    for (const args of [[], ['--json'], ['--format', 'github'], ['--format', 'sarif']]) {
      const { code, out, err } = await place.cli('validate', ...args)
      expect(code).toBe(0)
      expect(out + err).not.toContain(secret)
    }
    expect((await place.cli('validate')).out).toContain('A header has what looks like a secret')
  })

  it.each<[JsonObject]>([
    [request('Authorization', 'Bearer ${secret:token}')],
    [request('Authorization', '${secret:token}')],
    [response('X-Api-Key', '${secret:token}')],
    [request('Authorization', '$http_authorization')],
    [request('Authorization', '')],
    [response('Access-Control-Allow-Headers', 'Authorization, X-Api-Key')],
    [response('X-Auth-Required', 'yes')],
    [response('X-CSRF-Token-Header', 'X-CSRF-Token')],
    [response('WWW-Authenticate', 'Basic realm="files"')],
    [response('Cache-Control', 'max-age=31536000')],
    [response('ETag', key)],
    [response('X-Message', 'a token is required here')],
  ])('is not %j', async (config) => {
    place.write('edgewise.yaml', `${place.read('edgewise.yaml')}secrets: {token: {env: TOKEN}}\n`)
    expect(await validate(config)).toEqual([])
  })

  it('is not shown by another problem of its line', async () => {
    place.write(
      'domains/a.yaml',
      `domain: ${www}\nconfig:\n  add_back_source_head: [{head_name: X-Api-Key, ` +
        `head_value: ${key}, hed: 1}]\n`,
    )
    const { code, out } = await place.cli('validate')
    expect([code, out]).toEqual([1, expect.not.stringContaining(key)])
  })

  it('is warned of in a profile, once', async () => {
    place.write(
      'profiles/web.yaml',
      JSON.stringify({ profile: 'web', config: request('Authorization', `Bearer ${jwt}`) }),
    )
    for (const name of ['a', 'b'])
      place.write(`domains/${name}.yaml`, `domain: ${name}.example.com\nprofiles: [web]\n`)
    const { out } = await place.cli('validate')
    expect(out).not.toContain(jwt)
    expect((await place.json('validate'))['diagnostics']).toMatchObject([
      { code: 'secret-suspected', file: 'profiles/web.yaml' },
    ])
  })

  it('is warned of by import --write-manifests, without its value', async () => {
    const config = request('Authorization', `Bearer ${jwt}`)
    place.write('live.json', JSON.stringify({ [www]: config }))
    const { code, out, err } = await place.cli('import', 'live.json', '--write-manifests')
    expect(code).toBe(0)
    expect(err.replaceAll(/\s+/g, ' ')).toContain('1 header value looks like a secret')
    expect(err).toContain(`domains/${www}.yaml:`)
    expect(out + err).not.toContain(jwt)
  })
})
