// @module-tag often
// @module-tag nightly
import { expect } from 'vitest'
import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import type { Stage } from '../../src/core/catalog/item-spec.ts'
import { compareFacts, compareRequest } from '../../src/core/effects/compare.ts'
import { parseRequest } from '../../src/core/trace/request.ts'
import type { Sides } from '../../src/core/effects/sides.ts'
import { isObject, isSameJson, type Json, type JsonObject } from '../../src/core/model/json.ts'
import type { Reply } from '../../src/core/trace/reply.ts'
import { trace, type Compiled } from '../../src/core/trace/trace.ts'
import { BadRequest } from '../../src/core/trace/url.ts'
import { itOften, runs } from '../runs.ts'
import { Chance } from '../simulation/chance.ts'
import { createDraft } from '../trace/pairs/draft.ts'
import { buildPair } from '../trace/pairs/pair.ts'
import { drawSettings } from '../trace/pairs/readings.ts'
import { changeCandidates, settle } from './build.ts'
import { mutate } from './mutate.ts'

/** Compares whole traces answer by answer, without knowing what an item may change. */
function compareTraces(sides: Sides, request: Json): string[] {
  const [before, after] = [sides.before, sides.after].map((side) => readReplies(side, request))
  if (before === undefined || after === undefined) return []
  return [...before.keys()].flatMap((field) => {
    const [a, b] = [before.get(field), after.get(field)]
    if (a === undefined || b === undefined) return []
    const [left, right] = ['value' in a ? a.value : undefined, 'value' in b ? b.value : undefined]
    if (left !== undefined && right !== undefined)
      return isSameJson(left, right) ? [] : [`${field} differs`]
    const stages: Stage[] =
      field === 'outcome' ? ['connection', 'access', 'redirect'] : [field.split('.')[0] as Stage]
    const isRead = sides.changed.some((key) =>
      getItemSpec(key).stages.some((stage) => stages.includes(stage)),
    )
    const areUnknown = left === undefined && right === undefined
    return areUnknown && !isRead ? [] : [`${field} may-differ`]
  })
}

/** The answers of a trace by field, as comparison reads them; without rules, and headers apart. */
function readReplies(side: Compiled, request: Json): Map<string, Reply> {
  const { replies } = trace(side, request, { visitor: 'unknown', asks: false })
  const outcome = replies.get('outcome')
  const isServed = outcome === undefined || !('value' in outcome) || outcome.value === 'served'
  const found = new Map<string, Reply>()
  for (const [name, reply] of replies) {
    const field = name.replace(/^checks\./, 'access.checks.')
    const needsServing = /^(?:cache|origin|response)\.(?!status$|location$)/.test(field)
    const answer: Reply = needsServing && !isServed ? { value: null } : reply
    if (field === 'cache.rule' || field.includes('.headers.')) continue
    if (field === 'origin.main') {
      found.set('origin.main', mapList(answer, 'address'))
      found.set('origin.weights', mapList(answer, 'weight'))
    } else if (field === 'origin.rewrite' && 'value' in answer && isObject(answer.value))
      found.set(field, { value: answer.value['pattern'] ?? null })
    else found.set(field, answer)
  }
  return found
}

function mapList(reply: Reply, name: string): Reply {
  if (!('value' in reply) || !Array.isArray(reply.value)) return reply
  return { value: reply.value.map((each) => (isObject(each) ? (each[name] ?? null) : null)) }
}

function listDeltas(sides: Sides, request: Json): string[] {
  const { deltas } = compareRequest(sides, request, 'unknown')
  const noticed = compareFacts(sides, parseRequest(request, sides.domain), 'noticed').deltas
  expect(noticed).toEqual(deltas.filter((delta) => delta.class !== 'internal'))
  return deltas
    .filter(({ field }) => !field.includes('.headers.'))
    .map(({ field, verdict }) => `${field} ${verdict}`)
}

function check(seed: number, settings: JsonObject): void {
  const mutation = mutate(seed)
  if (mutation === null) return
  const { pair, after } = mutation
  const sides = changeCandidates(pair.items, after, settle(settings), pair.domain)
  for (let i = 0; i < 3; i++) {
    const { request } = i === 0 ? pair : buildPair(seed + i * 7919, i === 1 ? 'managed' : 'mixed')
    const url = String(request['url']).replace(/^(\w+:\/\/)[^/:?#]+/, '$1www.example.com')
    try {
      const facts = { ...request, url }
      const found = listDeltas(sides, facts).toSorted()
      expect(found, `${seed} ${JSON.stringify(facts)}`).toEqual(
        compareTraces(sides, facts).toSorted(),
      )
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
    }
  }
}

itOften('deltas are those of whole traces, whatever an item is thought to reach', () => {
  const count = runs(5, 2_000)
  for (let seed = 0; seed < count; seed++) {
    check(seed, {})
    check(seed, drawSettings(createDraft(new Chance(`comparison ${seed}`)), 1, []))
    check(seed, {
      R37: 'stripped',
      R50: 'anything',
      R66: 'before-access',
      R3: 'rewrite-first',
      unmanaged: 'unknown',
    })
  }
})
