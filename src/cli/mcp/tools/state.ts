import type { Workspace } from '../../../manifest/workspace-file/workspace.ts'
import { grains, queryAreas, type Grain, type QueryArea } from '../../../core/model/statistics.ts'
import { createTimeZone } from '../../../core/model/time/time-zone.ts'
import type { JsonObject } from '../../../core/model/json.ts'
import { drift } from '../../../operations/drift.ts'
import { loadHistory } from '../../../operations/history/past-applies.ts'
import { plan } from '../../../operations/plan.ts'
import { show } from '../../../operations/show.ts'
import { queryStats } from '../../../operations/stats.ts'
import { buildHistoryJson } from '../../../outlets/report/apply/history-json.ts'
import { buildSheetJson } from '../../../outlets/report/domain/json.ts'
import { buildDriftJson } from '../../../outlets/report/drift/json.ts'
import { buildPlanJson } from '../../../outlets/report/plan/json.ts'
import { buildStatsJson } from '../../../outlets/report/stats/json.ts'
import { parseQuerySpan } from '../../queries/time-span.ts'
import { readEffectsRequest, type EffectsContext } from '../../requests/effects-request.ts'
import { refuseUnplannable } from '../session.ts'
import { buildObserve, refuseHostileJson, type ObserveArguments } from './observe.ts'
import {
  declareTool,
  nameSchema,
  observeProperties,
  readingProperties,
  selectionProperties,
  type SelectionArguments,
} from './tool.ts'

/** Reads the requests that the workspace file names; null for none. */
function readOwnEffects(workspace: Workspace) {
  const context: EffectsContext = { io: { cwd: workspace.root }, options: {} }
  return readEffectsRequest(context, workspace, { requests: [], assume: [] })
}

interface PlanArguments extends SelectionArguments {
  witnesses?: boolean
  assume?: JsonObject
}

export const planTool = declareTool<PlanArguments>({
  name: 'plan',
  title: 'Plan changes',
  description:
    'Show what an apply would change, from the manifests on the disk and the recorded state, and ' +
    'the writes that it takes. Sends and records nothing; no policy runs a program.',
  properties: {
    ...selectionProperties,
    witnesses: { type: 'boolean', description: 'Find a request that each change alters.' },
    ...readingProperties,
  },
  run: async (call, { target, items, witnesses = false, assume = {} }) => {
    refuseHostileJson(assume)
    const { workspace, outside } = call.connect()
    await refuseUnplannable(workspace)
    const own = readOwnEffects(workspace)
    const readings = { assume }
    const request = {
      target,
      items,
      effects: own && { ...own, ...readings },
      witnesses: witnesses ? readings : null,
    }
    const planned = await plan(workspace, request, { outside })
    const { itemKeys } = workspace.config.service
    return {
      answer: buildPlanJson(planned.plan, (key) => itemKeys[key] ?? key, planned),
      notes: planned.notes,
    }
  },
})

export const showTool = declareTool<ObserveArguments & { domain: string }>({
  name: 'show',
  title: 'Show a domain',
  description:
    'Show all that is known of a domain: the merged value of each item, the file and line of its ' +
    'source, its state, its last change, and what differs.',
  properties: { domain: { ...nameSchema, description: 'The domain.' }, ...observeProperties },
  required: ['domain'],
  calls: true,
  run: async (call, { domain, ...observing }) => {
    const opened = call.connect()
    const request = buildObserve(opened, observing)
    const { sheet, told, notes } = await show(opened.workspace, domain, request, opened.outside)
    return { answer: buildSheetJson(sheet), notes: [told, ...notes] }
  },
})

export const driftTool = declareTool<SelectionArguments & ObserveArguments>({
  name: 'drift',
  title: 'Detect drift',
  description:
    'Compare manifests, recorded state and, if it is given or read back, the observed ' +
    'configuration. Repairs and records nothing.',
  properties: { ...selectionProperties, ...observeProperties },
  calls: true,
  run: async (call, { target, items, ...observing }) => {
    const opened = call.connect()
    const { workspace, outside } = opened
    const effects = readOwnEffects(workspace)
    const request = { target, items, ...buildObserve(opened, observing), effects }
    const found = await drift(workspace, request, outside)
    return { answer: buildDriftJson(found.drift, found.effects), notes: found.notes }
  },
})

export const historyTool = declareTool<{ domain?: string }>({
  name: 'history',
  title: 'List applies',
  description:
    'List all applies, the latest first: when, by whom, from which commit, with which outcome. ' +
    'With a domain: what each of them intended for it.',
  properties: { domain: { ...nameSchema, description: 'Only applies that wrote this domain.' } },
  run: async (call, { domain: name }) => {
    const { workspace, outside } = call.connect()
    return { answer: buildHistoryJson(await loadHistory(workspace, outside, name)) }
  },
})

interface StatsArguments {
  domains?: string[]
  from?: string
  to?: string
  grain?: Grain
  sum?: boolean
  area?: QueryArea
  points?: boolean
}

const timeText = 'YYYY-MM-DD, "YYYY-MM-DD HH:MM" in service.timezone, or a time ago such as 2h.'

export const statsTool = declareTool<StatsArguments>({
  name: 'stats',
  title: 'Count status codes',
  description:
    'Count status codes by domain or in total. Calls the service with GET requests and the token ' +
    'of who started this server; counts against the query rate of the account.',
  properties: {
    domains: {
      type: 'array',
      maxItems: 1000,
      items: nameSchema,
      description: 'Domains; those of all manifests by default; "all" alone is the whole account.',
    },
    from: { type: 'string', maxLength: 20, description: `${timeText} Default: 24h.` },
    to: { type: 'string', maxLength: 20, description: `${timeText} Default: now.` },
    grain: { type: 'string', enum: [...grains], description: 'Length of a period.' },
    sum: { type: 'boolean', description: 'One series over all domains.' },
    area: { type: 'string', enum: [...queryAreas], description: 'Only requests of this area.' },
    points: { type: 'boolean', description: 'Also the counts of each period.' },
  },
  calls: true,
  run: async (call, { domains = [], sum = false, area = 'all', points = false, ...times }) => {
    const { workspace, outside } = call.connect()
    const zone = createTimeZone(workspace.config.service.timezone)
    const request = {
      ...parseQuerySpan(domains, times, outside.clock.now(), zone),
      domains,
      sum,
      area,
      labels: 'start' as const,
      keepPoints: points,
    }
    const startProgress = () => ({ report: () => undefined, end: () => undefined })
    const ports = { outside, onWait: () => undefined, startProgress }
    return { answer: buildStatsJson(await queryStats(workspace, request, ports)) }
  },
})
