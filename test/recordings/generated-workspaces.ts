import type { Snapshot } from '../../src/core/model/item.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import type { Fault } from '../../src/emulator/entities/fault.ts'
import { sources } from '../fuzz/fuzz-world.ts'
import { mutateText } from '../fuzz/mutate.ts'
import { Chance } from '../simulation/chance.ts'
import { Workload } from '../simulation/workload.ts'
import {
  buildManifests,
  buildWorkspaceFile,
  diffFiles,
  serviceUrl,
  type Files,
  type RecordedWorkspace,
} from './workspace.ts'

const [fleetCount, mutatedCount] = [70, 30]

/** Builds fleets of 2 to 25 domains from seeds; some unset items without a documented reset. */
export function buildFleets(): RecordedWorkspace[] {
  return Array.from({ length: fleetCount }, (_, seed) => {
    const deletes = seed % 5 === 4
    const settings: JsonObject = deletes ? { service: { unset: true } } : {}
    return buildFleet(`fleet ${seed}`, settings, deletes)
  })
}

/** Settings of the workspace file, each with a fleet of its own. */
const settings: Record<string, JsonObject> = {
  'documented groups': { grouping: { groups: 'documented' } },
  'groups of its own': { grouping: { groups: [['origin', 'https']] } },
  together: { grouping: { together: [['origin', 'https', 'ip_black_list']] } },
  'two domains a write': { limits: { domainsPerWrite: 2, callsPerMinute: 5 } },
  burst: { limits: { burst: '2 per 10s', domainsPerWrite: 1 } },
  'short waits': { limits: { callsPerMinute: 2, maxWaitSeconds: 10, domainsPerWrite: 1 } },
  'one domain': { guards: { maxDomains: 1 } },
  'few changes': { guards: { maxChanges: 2 } },
  traffic: { guards: { maxTraffic: '10%' } },
  protected: { guards: { protect: ['d0.example.com'] } },
  frozen: { guards: { freeze: [{ from: '2026-11-20', to: '2026-11-22', reason: 'holidays' }] } },
  'frozen each week': { guards: { freeze: [{ from: 'Sat 00:00', to: 'Mon 08:00' }] } },
  waves: { rollout: { waves: [1, '50%', '100%'], pause: '10m' } },
  'waves with a first domain': { rollout: { waves: [1, '100%'], first: ['d1.*'], pause: '1m' } },
  'waves with an approval': { rollout: { waves: [1, '100%'], pause: '1m', approval: [2] } },
  'waves by traffic': { rollout: { waves: ['20%', '100%'], by: 'traffic', pause: '1m' } },
  health: { rollout: { waves: [1, '100%'], pause: '1m', health: { minRequests: 0 } } },
  'health on little data': {
    rollout: { waves: [1, '100%'], pause: '1m', health: { onLittleData: 'pass' } },
  },
  'health that stops': {
    rollout: {
      waves: [1, '100%'],
      pause: '1m',
      health: { onLittleData: 'stop', onFailure: 'rollback', minRequests: 1_000_000_000 },
    },
  },
  'fast reverts': { rollout: { waves: [1, '100%'], pause: '1m', revert: 'fast' } },
  'other readings': { trace: { assume: { R4: 'whole', R17: 451, unmanaged: 'unknown' } } },
  defaults: { defaults: { timeout: { time: 45 } } },
  'levels of findings': { checks: { 'item-conflict': 'error', 'rule-duplicate': 'off' } },
  'older values': { guards: { order: 'ask', reason: ['override', 'retry-held'] } },
  'ignored drift': {
    drift: { ignore: [{ domain: '*', item: 'https', pointer: '/cert_id', reason: 'renewed' }] },
  },
  'another id': { id: 'staging' },
  'moved domain': { moved: [{ from: 'old.example.com', to: 'd0.example.com' }] },
  'no secrets written': { allowLiteralSecrets: false },
  'a misspelt key': { guard: { maxDomains: 1 } },
  'a removed key': { probe: {}, rollout: { probe: [] } },
  'read back': { service: { readBack: true } },
}

/** Builds a fleet of each of some settings. */
export function buildSettings(): RecordedWorkspace[] {
  return Object.entries(settings).map(([name, each]) => buildFleet(`fleet with ${name}`, each))
}

/** Faults of the service, each with a fleet of its own. */
const faults: Record<string, Fault[]> = {
  'a refused domain': [{ kind: 'refuse', domain: 'd1.example.com', named: true }],
  'a refused domain without its name': [{ kind: 'refuse', domain: 'd1.example.com' }],
  'a refused item': [{ kind: 'refuse', item: 'origin', named: true }],
  'a refused item without its name': [{ kind: 'refuse', item: 'ip_black_list' }],
  'a part that is applied': [{ kind: 'partial', domain: 'd0.example.com' }],
  'an error': [{ kind: 'error', on: [1], status: 500 }],
  errors: [{ kind: 'error', probability: 0.3, status: 503 }],
  'only errors': [{ kind: 'error', status: 502 }],
  'a lost request': [{ kind: 'reset-before', on: [1] }],
  'a lost answer': [{ kind: 'reset-after', on: [1] }],
  'lost answers': [{ kind: 'reset-after' }],
  'a cut answer': [{ kind: 'truncated', on: [2] }],
  'an answer without JSON': [{ kind: 'not-json', on: [1] }],
  'a gateway': [{ kind: 'gateway', on: [1], status: 413 }],
  'a gateway that refuses': [{ kind: 'gateway', status: 403 }],
  'a token that ends': [{ kind: 'unauthorized-from', on: [2] }],
  'a low rate': [{ kind: 'rate', limit: 1 }],
  'no rate': [{ kind: 'rate', limit: 0 }],
  'rewritten values': [{ kind: 'rewrite' }],
  gusts: [{ kind: 'gusts', factor: 50 }],
}

/** Builds a fleet whose service has each of some faults. */
export function buildFaulty(): RecordedWorkspace[] {
  return Object.entries(faults).map(([name, each]) => ({
    ...buildFleet(`fleet and ${name}`, { limits: { domainsPerWrite: 4 } }),
    faults: each,
  }))
}

/** Builds workspaces of which one file is mutated, as the fuzzer does. */
export function buildMutated(): RecordedWorkspace[] {
  const paths = [...sources.keys()]
  return Array.from({ length: mutatedCount }, (_, seed) => {
    const path = paths[seed % paths.length] ?? ''
    const files = Object.fromEntries(
      [...sources].map(([name, text]) => [name, text.replace('https://service', serviceUrl)]),
    )
    const text = mutateText(files[path] ?? '', new Chance(`recordings ${seed}`))
    return {
      name: `mutated ${path} ${seed}`,
      files: { ...files, [path]: text },
      edits: {},
      domain: 'a.example.com',
      commands: 'invalid',
    }
  })
}

function buildFleet(name: string, given: JsonObject, deletes = false): RecordedWorkspace {
  const workload = new Workload(new Chance(name), deletes)
  const files = buildSnapshot(workload.desired())
  workload.edit()
  const edited = buildConfigs(workload.desired())
  const live = edited
    .filter((_, i) => i % 2 === 0)
    .map(([domain, items]) => [domain, omitUnset(items)])
  return {
    name,
    files: {
      'edgewise.yaml': buildWorkspaceFile(given),
      'live.json': JSON.stringify(Object.fromEntries(live)),
      ...files,
    },
    edits: diffFiles(files, buildManifests(edited)),
    domain: 'd0.example.com',
    commands: given['rollout'] === undefined ? 'usual' : 'rollout',
    extended: given['service'] !== undefined,
  }
}

function buildSnapshot(snapshot: Snapshot): Files {
  return buildManifests(buildConfigs(snapshot))
}

const unset = { $unset: true }

function buildConfigs(snapshot: Snapshot): [domain: string, items: JsonObject][] {
  return [...snapshot].map(([domain, items]) => [
    domain,
    Object.fromEntries([...items].map(([item, { candidates }]) => [item, candidates[0] ?? unset])),
  ])
}

/** Leaves out the items that are unset, as the service does. */
function omitUnset(items: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(items).filter(([, value]) => value !== unset))
}
