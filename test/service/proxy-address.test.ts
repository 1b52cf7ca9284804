import { describe, expect, it } from 'vitest'
import { createDispatcher } from '../../src/service/proxy.ts'

const url = 'https://api.example.net'

describe('the address of a proxy', () => {
  it.each([
    'http://[bad',
    '::::',
    'ftp://x',
    'not a url',
    'http://u%zz:p@127.0.0.1:9',
    'http://u:%ff@127.0.0.1:9',
    '%%',
    '127.0.0.1:9',
    'http://127.0.0.1:99999',
    'http://',
  ])('%s is an error that does not show it', async (address) => {
    for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'])
      await expect(createDispatcher(url, { [name]: address })).rejects.toMatchObject({
        code: 'usage',
        message: expect.not.stringContaining(address) as string,
      })
  })

  it.each([
    'http://proxy.example.net:3128',
    'https://u%25:p@proxy.example.net',
    'socks5://[::1]:1',
  ])('%s is used', async (address) => {
    const dispatcher = await createDispatcher(url, { HTTPS_PROXY: address, NO_PROXY: '[[[,,::' })
    expect(dispatcher).toBeDefined()
  })
})
