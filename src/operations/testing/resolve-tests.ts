import { didYouMean } from '../../core/catalog/value/nearest.ts'
import { createDomainFinder } from '../../core/effects/requests/find-domain.ts'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { Domain, ItemKey, ItemState } from '../../core/model/item.ts'
import { formatPointerStep, type JsonObject } from '../../core/model/json.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { compileDomainGlob, compileDomainGlobs } from '../../core/model/text/domain-glob.ts'
import type { RequestCheck } from '../../core/tests/test-case.ts'
import type { Settings } from '../../core/trace/readings.ts'
import { parseUrl } from '../../core/trace/url.ts'
import type { Given } from '../../manifest/tests/given.ts'
import { ProblemQuota } from '../../manifest/manifests/finding.ts'
import {
  createReport,
  type LoadedTest,
  type ReportProblem,
} from '../../manifest/tests/load-tests.ts'
import type { Workspace } from '../../manifest/workspace-file/workspace.ts'
import { settleReadings } from '../tracing/candidates.ts'

/** The parts of a workspace that tests use. */
export type TestedWorkspace = Pick<
  Workspace,
  'root' | 'config' | 'desired' | 'diagnostics' | 'policyFiles' | 'findTextSource' | 'parseGiven'
>

/** A configuration that tests ask: that of a domain, or one that a test gives. */
export interface Unit extends Pick<Given, 'items' | 'findSource'> {
  /** The domain; for a given configuration the host of its requests. */
  domain: Domain
  isGiven: boolean
  /** The values of a given configuration that the emulator shall refuse; they may be invalid. */
  raw: JsonObject
}

/** A test with the configurations that it asks. */
export interface ResolvedTest {
  test: LoadedTest
  units: Unit[]
  traced: { check: RequestCheck; unit: Unit }[]
  settings: Settings
  /** Recorded items of a plan, over those of the manifests; null: nothing is recorded. */
  recorded: Map<Unit, Map<ItemKey, ItemState | null>>
}

/** Creates the configuration of a domain of the workspace. */
export function createUnit({ desired, findTextSource }: TestedWorkspace, domain: Domain): Unit {
  const items = desired.get(domain) ?? new Map<ItemKey, ItemState>()
  const find: Unit['findSource'] = (item, pointer) => findTextSource(domain, item, pointer)
  return { domain, isGiven: false, items, raw: {}, findSource: find }
}

/** Host of a given configuration without a request. */
const givenHost = 'given.example.com'

/**
 * Resolves tests against a workspace: their domains, configurations, requests and readings.
 *
 * @param checkPolicies reports policies of a test that can't be judged
 */
export function resolveTests(
  workspace: TestedWorkspace,
  tests: LoadedTest[],
  checkPolicies: (test: LoadedTest, report: ReportProblem) => void,
): { resolved: ResolvedTest[]; diagnostics: Diagnostic[] } {
  const { desired } = workspace
  const diagnostics: Diagnostic[] = []
  const quota = new ProblemQuota()
  const known = new Map<Domain, Unit>()
  const findDomain = createDomainFinder(desired.keys())
  const open = (domain: Domain): Unit => {
    const unit = known.get(domain) ?? createUnit(workspace, domain)
    known.set(domain, unit)
    return unit
  }
  const settle = createSettle(workspace)
  const resolved = tests.map((test): ResolvedTest => {
    const report = createReport(test.document, quota, diagnostics)
    checkPolicies(test, report)
    const hosts = test.traces.map(({ request }) => parseUrl(request.url, null).host)
    const find = test.given === undefined ? findDomain : (host: string) => host
    const asked = [...new Set(hosts.flatMap((host) => find(host) ?? []))]
    const units =
      test.given !== undefined
        ? giveUnits(workspace, test, asked.length === 0 ? [givenHost] : asked, report)
        : (test.domains === undefined ? asked : matchDomains(desired, test.domains, report)).map(
            open,
          )
    const own = new Map(units.map((unit) => [unit.domain, unit]))
    const traced = test.traces.flatMap((check, i) => {
      const host = hosts[i] ?? ''
      const domain = find(host)
      const unit = own.get(domain ?? '')
      if (unit !== undefined) return [{ check, unit }]
      const why = domain === null ? 'no manifest has it' : '"domains" of this test lacks it'
      const hint = domain === null ? didYouMean(host, desired.keys()) : ''
      report({ pointer: `${check.pointer}/url`, detail: `${host} is not tested: ${why}.${hint}` })
      return []
    })
    const recorded = readRecorded(workspace, test, units, report)
    return { test, units, traced, settings: settle(test, report), recorded }
  })
  return { resolved, diagnostics: [...diagnostics, ...quota.summarize()] }
}

/** Lists the domains that globs select; each glob must match one. */
function matchDomains(
  desired: Workspace['desired'],
  globs: string[],
  report: ReportProblem,
): Domain[] {
  const names = globs.map((glob) => glob.toLowerCase())
  if (names.every((name) => desired.has(name))) return [...new Set(names)]
  const domains = [...desired.keys()].toSorted()
  for (const [i, glob] of names.entries())
    if (!domains.some(compileDomainGlob(glob.replace(/^!/, '')))) {
      const detail = `no manifest has a domain that matches "${glob}".${didYouMean(glob, domains)}`
      report({ pointer: `/domains/${i}`, detail })
    }
  const selected = domains.filter(compileDomainGlobs(globs))
  if (selected.length === 0) report({ pointer: '/domains', detail: 'no domain is left to test' })
  return selected
}

/** Parses the configuration that a test gives for each host of its requests. */
function giveUnits(
  { parseGiven }: TestedWorkspace,
  { document, given = {}, emulator }: LoadedTest,
  hosts: string[],
  report: ReportProblem,
): Unit[] {
  const mayBeInvalid = emulator !== undefined && emulator !== 'accepts'
  return hosts.map((domain, i) => {
    const { findings, raw, ...parsed } = parseGiven(
      { document, base: '/given', value: given },
      domain,
    )
    for (const finding of i === 0 ? findings : [])
      if (
        finding.severity !== 'warning' &&
        !(mayBeInvalid && /^item-(?:invalid|conflict)$/.test(finding.code))
      )
        report(finding)
    return { ...parsed, domain, isGiven: true, raw: mayBeInvalid ? raw : {} }
  })
}

/** Creates a function that settles the readings of tests, each combination once. */
function createSettle(workspace: TestedWorkspace) {
  const known = new Map<string, Settings>()
  return ({ assume = {} }: LoadedTest, report: ReportProblem): Settings => {
    const key = JSON.stringify(assume)
    const valid = Object.entries(assume).filter(([name, answer]) => {
      try {
        return known.has(key) || settleReadings(workspace, { assume: { [name]: answer } })
      } catch (error) {
        throwDefect(error)
        report({
          pointer: `/assume${formatPointerStep(name)}`,
          detail: `${error.message.replace('--assume: ', '')}.`,
        })
        return false
      }
    })
    const settled =
      known.get(key) ?? settleReadings(workspace, { assume: Object.fromEntries(valid) })
    if (valid.length === Object.keys(assume).length) known.set(key, settled)
    return settled
  }
}

/** Reads the recorded values from which a test plans, for each of its configurations. */
function readRecorded(
  { parseGiven }: TestedWorkspace,
  { plan: { from = {} } = {}, document }: LoadedTest,
  units: Unit[],
  report: ReportProblem,
): ResolvedTest['recorded'] {
  if (Object.keys(from).length === 0) return new Map()
  const none = Object.keys(from).flatMap((item) =>
    from[item] === null ? [[item, null] as const] : [],
  )
  const source = { document, base: '/plan', value: { config: from }, bare: true }
  return new Map(
    units.map((unit, i) => {
      const { items, findings } = parseGiven(source, unit.domain)
      for (const finding of i === 0 ? findings : [])
        if (finding.severity !== 'warning')
          report({ ...finding, pointer: finding.pointer.replace('/plan/config', '/plan/from') })
      return [unit, new Map([...items, ...none])]
    }),
  )
}
