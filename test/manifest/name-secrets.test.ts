import { expect, it } from 'vitest'
import { nameSecrets } from '../../src/manifest/workspace-file/written-config.ts'

const item = (domain: string, name: string, value: object) => ({
  domain,
  item: name,
  value: value as Record<string, never>,
})
const secret = ($secret: string) => ({ $secret })
const always = () => true
const name = (...args: Parameters<typeof nameSecrets>) =>
  nameSecrets(...args).map((each) => [each.secret, each.name, each.variable])

it('gives one name to each value, after its first use', () => {
  const items = [
    item('a.example.com', 'visit_timestamp', { key: secret('1') }),
    item('b.example.com', 'visit_timestamp', { key: secret('1') }),
    item('b.example.com', 'tos_origin', [{ auth_secret_key: secret('1') }, { host: secret('0') }]),
    item('c.example.com', 'visit_timestamp', { key: secret('2') }),
    item('c.example.com', 'tos_origin', [{ auth_secret_key: secret('3') }]),
  ]
  expect(name(items, (each) => each === '0', always)).toEqual([
    ['1', 'visit_timestamp_key', 'VISIT_TIMESTAMP_KEY'],
    ['2', 'visit_timestamp_key_c_example_com', 'VISIT_TIMESTAMP_KEY_C_EXAMPLE_COM'],
    ['3', 'tos_origin_auth_secret_key', 'TOS_ORIGIN_AUTH_SECRET_KEY'],
  ])
})

it('counts where names would be equal, in use or too long', () => {
  const long = `${'x'.repeat(60)}.example.com`
  const items = [
    item('a.example.com', 'i', [{ k: secret('1') }, { k: secret('2') }]),
    item(long, 'i', [{ k: secret('3') }, { k: secret('4') }]),
  ]
  expect(
    name(
      items,
      () => false,
      (each) => each !== 'i_k_2',
    ),
  ).toEqual([
    ['1', 'i_k_a_example_com', 'I_K_A_EXAMPLE_COM'],
    ['2', 'i_k_a_example_com_2', 'I_K_A_EXAMPLE_COM_2'],
    ['3', 'i_k', 'I_K'],
    ['4', 'i_k_3', 'I_K_3'],
  ])
})
