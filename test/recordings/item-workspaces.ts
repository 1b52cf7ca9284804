import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { listKinds } from '../rule-lists/kinds.ts'
import { listCases, loadGroups } from '../trace/case-files.ts'
import { buildPair, type Pair } from '../trace/pairs/pair.ts'
import {
  buildManifests,
  buildWorkspaceFile,
  diffFiles,
  type Files,
  type RecordedWorkspace,
} from './workspace.ts'

/** Maximum number of cases of one item that become domains of a workspace. */
const maxCases = 12

interface Case {
  payload: Json
  expect: string
  manifest: boolean | null
}

/** Builds two workspaces of each item: of valid payloads, and of invalid ones. */
export function buildConformance(): RecordedWorkspace[] {
  return listFiles('../conformance/items/').flatMap((file) => {
    const name = basename(file.pathname)
    const cases = [file, new URL(`../own/${name}`, file)].flatMap(
      (each) => JSON.parse(readFileSync(each, 'utf8')) as Case[],
    )
    const item = basename(name, '.json')
    const valid = cases.filter((each) => each.expect === 'accept' && each.manifest === true)
    const invalid = cases.filter((each) => each.manifest === false)
    return [...buildValid(item, valid), ...buildInvalid(item, invalid)]
  })
}

/** A domain has a payload each; then each has the next one. */
function buildValid(item: string, cases: Case[]): RecordedWorkspace[] {
  if (cases.length === 0) return []
  const chosen = spread(cases).map(({ payload }) => payload)
  const build = (payloads: Json[]) =>
    buildManifests(payloads.map((payload, i) => [`c${i}.example.com`, { [item]: payload }]))
  const files = build(chosen)
  const edits = diffFiles(files, build([...chosen.slice(1), ...chosen.slice(0, 1)]))
  return [buildUsual(`valid ${item}`, files, edits, 'c0.example.com')]
}

function buildInvalid(item: string, cases: Case[]): RecordedWorkspace[] {
  if (cases.length === 0) return []
  const configs = spread(cases).map(
    ({ payload }, i) => [`c${i}.example.com`, { [item]: payload }] as const,
  )
  const files = buildManifests(configs)
  return [{ ...buildUsual(`invalid ${item}`, files, {}, 'c0.example.com'), commands: 'invalid' }]
}

/** Chooses cases over a whole list, in their order. */
function spread(cases: Case[]): Case[] {
  const step = Math.max(1, Math.floor(cases.length / maxCases))
  return cases.filter((_, i) => i % step === 0).slice(0, maxCases)
}

const base: JsonObject = { origin: { default_master: '192.0.2.10' }, https: { cert_id: 1001 } }

/** Builds a workspace of each file of traced cases: its groups are domains. */
export function buildTraces(): RecordedWorkspace[] {
  return listFiles('../trace/cases/').map((file) => {
    const groups = loadGroups(file).slice(0, 12)
    const name = (i: number) => `g${i}.example.com`
    const requests = groups.flatMap((group, i) =>
      listCases(group)
        .slice(0, 3)
        .map(({ request }) => moveRequest(request, name(i))),
    )
    const files = buildManifests(
      groups.map((group, i) => [
        name(i),
        refer({ ...(group.base === 'none' ? {} : base), ...group.items }),
      ]),
    )
    const next = buildManifests(
      groups.map((_, i) => [
        name(i),
        refer({ ...base, ...groups[(i + 1) % groups.length]?.items }),
      ]),
    )
    return buildUsual(
      `trace ${basename(file.pathname, '.yaml')}`,
      { ...files, 'requests.json': JSON.stringify(requests) },
      diffFiles(files, next),
      name(0),
    )
  })
}

/** Names another domain in the URL of a request. */
function moveRequest({ url = '~/', ...facts }: JsonObject, domain: string): JsonObject {
  const moved = String(url).replace(/^~|^https:\/\/www\.example\.com/, `https://${domain}`)
  return { ...facts, url: moved }
}

/** Number of drawn configurations. */
const pairs = 40

/** Builds workspaces of drawn configurations with a request each, which change all at once. */
export function buildPairs(): RecordedWorkspace[] {
  return Array.from({ length: pairs }, (_, seed) => {
    const pair = buildPair(seed, 'managed')
    const files = buildManifests([[pair.domain, findItems(pair)]])
    const next = buildManifests([[pair.domain, findItems(buildPair(seed + 1000, 'managed'))]])
    return buildUsual(
      `pair ${seed}`,
      { ...files, 'requests.json': JSON.stringify([pair.request]) },
      diffFiles(files, next),
      pair.domain,
    )
  })
}

function findItems({ items }: Pair): JsonObject {
  const set = Object.entries(items).flatMap(([item, [value = null]]) =>
    value === null ? [] : [[item, value]],
  )
  return refer(Object.fromEntries(set) as JsonObject)
}

/** Turns stored secrets into references of a manifest. */
function refer(value: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(value).replaceAll(/\{"\$secret":"(\w+)"\}/g, '"${secret:$1}"'),
  ) as JsonObject
}

/** Builds a workspace of each kind of rule list, which gets longer. */
export function buildRuleLists(): RecordedWorkspace[] {
  return Object.entries(listKinds).map(([kind, build]) => {
    const files = buildManifests([['www.example.com', build(6)]])
    const longer = buildManifests([['www.example.com', build(9)]])
    return buildUsual(`list of ${kind}`, files, diffFiles(files, longer), 'www.example.com')
  })
}

function buildUsual(name: string, files: Files, edits: Files, domain: string): RecordedWorkspace {
  const workspaceFile = { 'edgewise.yaml': buildWorkspaceFile() }
  return { name, files: { ...workspaceFile, ...files }, edits, domain, commands: 'usual' }
}

function listFiles(folder: string): URL[] {
  const url = new URL(folder, import.meta.url)
  return readdirSync(url)
    .toSorted()
    .map((name) => new URL(name, url))
}
