import { describe, expect, it } from 'vitest'
import { compileExpression, convertValue } from '../../src/core/policy/expression.ts'
import { functions } from '../../src/core/policy/functions.ts'
import { compileMessage, formatMessage } from '../../src/core/policy/message.ts'
import { createBudget, judge, type Case } from '../../src/core/policy/judge.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { itLong } from '../runs.ts'

const names = Array.from({ length: 2000 }, (_, i) => `name-${i}`)
const values = {
  domain: { name: `${'a'.repeat(60)}!` },
  config: convertValue({
    origin: { origin_mode: 'http', default_master: '192.0.2.10' },
    https: { force_https: 301 },
    timeout: { time: '60' },
    cache_rule_list: names,
  }),
}

function evaluate(text: string, left = 1e6): unknown {
  const compiled = compileExpression(text, 'domain', 'bool')
  if ('fault' in compiled) return `not compiled: ${compiled.fault}`
  const outcome = compiled.evaluate(values, { left })
  return 'fault' in outcome ? outcome.fault : outcome.value
}

describe('expressions', () => {
  it.each([
    ['config.origin.origin_mode == "http"', true],
    ['config.https.force_https > 300 && config.https.force_https + 1 == 302', true],
    ['config.origin.default_master.split(",").exists(a, a.startsWith("192.0.2."))', true],
    ['int(config.timeout.time) > 60', false],
    ['has(config.referer) || domain.name.matches("^a+!$")', true],
    ['!has(config.origin)', false],
  ])('%s', (text, value) => {
    expect(evaluate(text)).toBe(value)
  })

  it.each(Object.entries(functions))('%s is as its example shows', (name, [, example]) => {
    expect({ example, isNamed: example.includes(name) }).toEqual({ example, isNamed: true })
    expect(evaluate(example)).toBe(true)
  })

  it.each([
    ['config.ip_white_list.list == "on"', /the key "ip_white_list" is missing here/],
    ['has(config.ip_black_list.list)', /the key "ip_black_list" is missing/],
    ['config.origin.port == ""', /the key "port" is missing/],
    ['config.timeout.time > 30', /types do not fit: string > int. Convert/],
    ['config.timeout.time == 60', /compares a text with a number, which are never equal/],
    ['config.https.force_https in ["301"]', /compares a number with a text/],
    ['config.origin', /expected true or false, got a map/],
    ['config.orgin.origin_mode == "x"', /no item "orgin". Did you mean "origin"/],
    ['has(config.origin.orgin_mode)', /no field "orgin_mode". Did you mean "origin_mode"/],
    ['domain.nme == "a"', /"domain" has no "nme"/],
    ['change.item == "origin"', /unknown variable: change/],
    ['domain.name.size()', /expected true or false, got the type int/],
    ['domain.name.contains(1)', /there is no \w+\.contains\(int\)\. An example of contains: "www/],
    ['(5).contains("a")', /there is no int\.contains\(string\)\. An example of contains: "www/],
    ['lower(domain.name) == "a"', /there is no lower\(.*\)\. See "edgewise explain policy"/],
  ])('%s has no answer', (text, fault) => {
    expect(evaluate(text)).toMatch(fault)
  })

  it.each([
    ['a pattern that goes back', 'domain.name.matches("^(a+)+$")'],
    ['a large pattern', 'domain.name.matches("(a{30}){30}")'],
    ['a look-ahead', 'domain.name.matches("(?=a)a")'],
    ['deep nesting', '('.repeat(4000)],
    ['many negations', `${'!'.repeat(4000)}true`],
    ['a long sum', `1${'+1'.repeat(2000)} == 2`],
    ['too long a text', `"${'a'.repeat(5000)}" == ""`],
    ['a huge list', `[${'1,'.repeat(1000)}1].size() == 1`],
    [
      'nested loops',
      'config.cache_rule_list.exists(a, config.cache_rule_list.exists(b, ' +
        'config.cache_rule_list.exists(c, a + b == c)))',
    ],
    [
      'nested loops with errors',
      'config.cache_rule_list.all(a, config.cache_rule_list.all(b, config.cache_rule_list.all(c, ' +
        'a.matches("(") || b.matches("(") || c.matches("(")))) || true',
    ],
    [
      'texts that grow',
      'cel.bind(a, domain.name, cel.bind(b, a' +
        `${'+a'.repeat(50)}, cel.bind(c, b${'+b'.repeat(50)}, ` +
        `cel.bind(d, c${'+c'.repeat(50)}, d${'+d'.repeat(50)} == "x"))))`,
    ],
    ['lists that grow', `(config.cache_rule_list${'+config.cache_rule_list'.repeat(40)}) == []`],
  ])('%s ends in time', (_name, text) => {
    const start = process.cpuUsage()
    const answer = evaluate(text)
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(2)
    expect(answer).not.toBe(true)
  })

  itLong('a policy that takes too much work has no answer for any more domains', () => {
    const text = 'config.cache_rule_list.exists(a, config.cache_rule_list.exists(b, a == b + "x"))'
    const cases = Array.from({ length: 100 }, (_, i): Case => {
      return { domain: `d${i}`, item: null, keys: {}, values }
    })
    const start = process.cpuUsage()
    const { violations } = judge(createPolicy(text), cases, createBudget(100))
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(5)
    expect(violations).toHaveLength(100)
    expect(violations.every(({ fault }) => fault?.includes('too much work'))).toBe(true)
  })

  it('policies share a budget, so that many that are hostile end as well', () => {
    const each: Case = { domain: 'd', item: null, keys: {}, values }
    const text = 'config.cache_rule_list.exists(a, a == "name-1000" + "x")'
    const shared = createBudget(1)
    let [judged, before] = [0, shared.left]
    const faults = new Set<string | null | undefined>()
    for (shared.left = 60_000; judged < 20; judged++) {
      before = shared.left
      faults.add(judge(createPolicy(text), [each], shared).violations[0]?.fault)
      expect(shared.left).toBeLessThanOrEqual(before)
    }
    expect(shared.left).toBe(0)
    expect(judge(createPolicy('false'), [each], shared).violations).toHaveLength(1)
    expect([...faults]).toEqual([undefined, expect.stringContaining('too much work')])
  })
})

function createPolicy(text: string): Policy {
  const deny = compileExpression(text, 'domain', 'bool')
  if ('fault' in deny) throw new Error(deny.fault)
  return {
    name: 'p',
    level: 'hard',
    on: 'domain',
    when: null,
    deny,
    message: ['no'],
    requests: null,
  }
}

describe('messages', () => {
  const format = (text: string) => {
    const message = compileMessage(text, 'domain')
    return 'fault' in message ? message : formatMessage(message, values, { left: 1e6 })
  }
  it('have the values of expressions', () => {
    expect(format('$${x} ${config.origin.origin_mode} ${config.https}: ${"}"}')).toBe(
      '${x} http {"force_https":301}: }',
    )
    expect(format('${config.referer.list}')).toContain('the key "referer" is missing')
  })
  it('point at their faults', () => {
    expect(format('a ${domain.name')).toMatchObject({ at: 2 })
    expect(format('a ${domain.nme}')).toMatchObject({ at: 4 })
    expect(format('a ${1 +}')).toMatchObject({ fault: 'unexpected token: EOF' })
  })
})
