// @module-tag often
import { expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { isObject, type Json } from '../../src/core/model/json.ts'
import { arbitraryPayload } from '../laws/values.ts'
import { fc, runs } from '../runs.ts'
import { createExtendedWorld, listEntries } from './extended-world.ts'

const domain = 'www.example.com'

/** Checks that a form of the stored configuration is accepted as it is, and changes nothing. */
async function checkAccepted(
  item: string,
  payload: Json,
  path: string,
  lenient: boolean,
): Promise<boolean> {
  const service = createExtendedWorld({ lenient })
  const write = (config: Json) =>
    service.send('POST /v2/domain/config', { domains: domain, config })
  const read = async () => {
    const { body } = await service.send(`GET ${path}?domains=${domain}`)
    return listEntries(body)[0]?.['config'] ?? null
  }
  const { status } = await write({ [item]: payload })
  if (status !== 200) return false
  const shown = await read()
  // An item whose value is not shown can't be written back.
  if (!isObject(shown)) return false
  const answer = await write(shown)
  expect({ shown, status: answer.status, body: answer.body }).toMatchObject({ status: 200 })
  expect(await read()).toEqual(shown)
  return true
}

it.each([
  ['/v2/domain/config', false],
  ['/v2/domain', false],
  ['/v2/domain/config', true],
])(
  'what %s returns is accepted in a write (lenient: %s), and changes nothing',
  { tags: 'often' },
  async (path, lenient) => {
    const items = new Set<string>()
    for (const item of catalogue.keys())
      await fc.assert(
        fc.asyncProperty(arbitraryPayload(item), async (payload) => {
          if (await checkAccepted(item, payload, path, lenient)) items.add(item)
        }),
        { numRuns: runs(10, 200) },
      )
    // Two items have no documented wire name.
    expect(items.size).toBeGreaterThan(catalogue.size - 4)
  },
)
