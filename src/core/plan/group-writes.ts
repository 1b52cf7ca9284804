import type { Write, Form, FormName } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import {
  type Solver,
  serial,
  splitProgress,
  type Parallel,
  type Progress,
} from '../model/parallel.ts'
import type { CoverProblem, Rectangle } from './cover/cover-problem.ts'
import {
  findCover,
  findSmallCover,
  isLargeProblem,
  type Cover,
  type CoverEffort,
} from './cover/find-cover.ts'
import type { PriceEffort } from './cover/price-bound.ts'
import type { SearchEffort } from './cover/search-cover.ts'
import type { Grouping } from '../model/config.ts'
import type { Need } from './needs.ts'
import { orderWrites } from './order-writes.ts'
import { getItemSpec } from '../catalog/catalogue.ts'
import { compareKeys, groupBy, addUp } from '../model/lists.ts'
import { canonicalizeJson, createNumbering } from '../model/text/canonical-json.ts'
import { type BundleNeed, buildCoverProblem } from './bundle-columns.ts'
import { type NeedBundle, listBundles } from './groups.ts'

/** Input of the optimiser: the needs, the groups of items, and the limits of a write. */
export interface WriteProblem {
  needs: Need[]
  grouping: Grouping
  domainsPerWrite: number
  effort: Effort
  /** Share of the effort for this part of a larger problem, up to 1. */
  share?: number
  /** Solves the linear programmes of the lower bound; null: the bound is by counting alone. */
  solver: Solver | null
  /** Runs tasks of a large problem at the same time; default: one after the other. */
  parallel?: Parallel
  /** Called regularly during a long search. */
  progress?: Progress
  /** Whether a domain's writes precede those of other domains. */
  isFirst?(domain: Domain): boolean
}

/** Writes that meet every need; those that share a domain are close together. */
export interface WriteSolution {
  writes: Write[]
  /** Proven: no plan for these needs has fewer writes. */
  lowerBound: number
}

/** How long is searched for fewer writes. */
export type Effort = 'quick' | 'normal'

/** A small problem needs no bound before the search: the bound of its solver comes first. */
const noBound: PriceEffort = { rounds: 0, sets: 0 }

const coverEfforts: Record<Effort, CoverEffort> = {
  quick: {
    search: {
      starts: 1,
      minGainShare: 1,
      firstBound: noBound,
      search: { stepsPerRectangle: 500, stepsPerPair: 20, maxSteps: 10_000, patience: 1_000 },
    },
    largeSearch: {
      starts: 1,
      minGainShare: 0.8,
      firstBound: noBound,
      search: { stepsPerRectangle: 30, stepsPerPair: 30, maxSteps: 20_000, patience: 2_000 },
    },
    bound: { rounds: 25, steps: 4_000, variables: 600 },
    largeBound: { rounds: 1, sets: 300_000 },
  },
  normal: {
    search: {
      starts: 1,
      minGainShare: 1,
      firstBound: noBound,
      search: { stepsPerRectangle: 10_000, stepsPerPair: 300, maxSteps: 300_000, patience: 5_000 },
    },
    largeSearch: {
      starts: 2,
      minGainShare: 0.97,
      firstBound: { rounds: 1, sets: 1_500_000 },
      search: {
        stepsPerRectangle: 1_000,
        stepsPerPair: 1_000,
        maxSteps: 300_000,
        patience: 20_000,
      },
    },
    bound: { rounds: 60, steps: 20_000, variables: 800 },
    largeBound: { rounds: 10, sets: 1_500_000 },
  },
}

/**
 * Meets all needs with as few writes as it finds, separately for each group of items that may share
 * a write. Never takes more writes than domains with equal patches together, nor than one item at a
 * time. Deterministic, and independent of the order of the needs.
 */
export function groupWrites({
  needs,
  grouping,
  domainsPerWrite,
  effort,
  solver,
  share = 1,
  parallel = serial,
  progress,
  isFirst = () => false,
}: WriteProblem): WriteSolution {
  const scaled = scaleEffort(coverEfforts[effort], share)
  const groupProblems = buildGroupProblems(needs, grouping, domainsPerWrite)
  const covers = findCovers(
    groupProblems.map(({ problem }) => problem),
    (problems, own) =>
      parallel.run(
        findSmallCover,
        problems.map((problem) => ({ problem, effort: scaled })),
        { solver, progress: own },
      ),
    (problem, own) => findCover(problem, scaled, solver, parallel, own),
    progress,
  )
  const parts = groupProblems.flatMap(({ toWrite }, i) =>
    (covers[i]?.rectangles ?? []).map(toWrite),
  )
  const lowerBound = addUp(covers, ({ bound }) => bound)
  return {
    writes: orderWrites(parts, isFirst).map((write, i) => ({ id: i + 1, wave: 1, ...write })),
    lowerBound,
  }
}

/** Finds a cover of each problem: of the small ones together, of large ones one after the other. */
function findCovers(
  problems: CoverProblem[],
  findSmall: (problems: CoverProblem[], progress: Progress) => Cover[],
  findLarge: (problem: CoverProblem, progress: Progress) => Cover,
  progress: Progress | undefined,
): Cover[] {
  const isLarge = problems.map(isLargeProblem)
  const smallProblems = problems.filter((_, i) => isLarge[i] !== true)
  let step = Math.min(1, smallProblems.length)
  const steps = step + problems.length - smallProblems.length
  const getProgress = splitProgress(progress, steps)
  const small = findSmall(smallProblems, getProgress(0)).values()
  return problems.map((problem, i) => {
    const found = isLarge[i] === true ? undefined : small.next().value
    return found ?? findLarge(problem, getProgress(step++))
  })
}

/** Share of the effort for a whole fleet that its waves together get again. */
const largeShare = 0.2

/** Scales the effort for a part of a problem; a part needs no bound. */
function scaleEffort(effort: CoverEffort, share: number): CoverEffort {
  if (share === 1) return effort
  return {
    ...effort,
    search: scaleSearch(effort.search, share),
    largeSearch: scaleSearch({ ...effort.largeSearch, starts: 1 }, share * largeShare),
    largeBound: noBound,
  }
}

function scaleSearch(effort: SearchEffort, share: number): SearchEffort {
  const { search } = effort
  return { ...effort, search: { ...search, maxSteps: Math.ceil(search.maxSteps * share) } }
}

/** The cover problem of one group of items; `toWrite` turns a rectangle into domains and forms. */
interface GroupProblem {
  problem: CoverProblem
  toWrite(rectangle: Rectangle): { domains: Domain[]; items: Record<ItemKey, Form> }
}

/** Maximum number of parts. Beyond it each need is met by one delta or whole, to save time. */
const maxParts = 200_000
const modes: FormName[] = ['append', 'add', 'remove', 'switch']

/**
 * Builds one cover problem for each group of items that may share a write. The order is stable and
 * independent of the order of the needs.
 */
export function buildGroupProblems(
  needs: Need[],
  grouping: Grouping,
  domainsPerWrite: number,
): GroupProblem[] {
  const bundles = [...groupBy(needs, (need) => need.domain)]
    .toSorted(compareKeys)
    .flatMap(([domain, own]) => listBundles(domain, own, grouping))
  return [...groupBy(bundles, ({ group }) => group)]
    .toSorted(compareKeys)
    .map(([, own]) => buildGroupProblem(own, domainsPerWrite))
}

function buildGroupProblem(bundles: NeedBundle[], width: number): GroupProblem {
  const domains = [...new Set(bundles.map(({ domain }) => domain))]
  const rowByDomain = new Map(domains.map((domain, row) => [domain, row]))
  const formsByKey = new Map<string, Record<ItemKey, Form>>()
  const keys = new Map<string, string>()
  const number = createNumbering()
  const hasParts = addUp(bundles, ({ needs }) => needs[0]?.parts.length ?? 0) <= maxParts
  const bundleNeeds = bundles.map(({ domain, needs }): BundleNeed => {
    const bundle = needs.map((need) => need.item).join(' ')
    const addForms = (items: Record<ItemKey, Form>, mode: number): string => {
      const forms = Object.values(items)
      const short = JSON.stringify([
        bundle,
        mode,
        forms.map((form) => [form.name, number(form.payload)]),
      ])
      // Equal keys, which may be long, are one text.
      const key = keys.get(short) ?? `${bundle}\n${mode}\n${forms.map(formatForm).join('\n')}`
      keys.set(short, key)
      formsByKey.set(key, items)
      return key
    }
    const [only, ...more] = needs
    const parts =
      only === undefined || more.length > 0 ? [] : hasParts ? only.parts : joinByName(only)
    return {
      row: rowByDomain.get(domain) ?? 0,
      bundle,
      whole: addForms(Object.fromEntries(needs.map((need) => [need.item, need.whole])), 0),
      parts: parts.map((form) => {
        const mode = 1 + modes.indexOf(form.name)
        return { key: addForms({ [only?.item ?? '']: form }, mode), mode }
      }),
    }
  })
  const { problem, formKeys } = buildCoverProblem(bundleNeeds, domains.length, width)
  return {
    problem,
    toWrite: ({ rows, columns }) => ({
      domains: rows.map((row) => domains[row] ?? '').toSorted(),
      items: joinItems(
        columns.flatMap((column) => formKeys[column] ?? []).map((key) => formsByKey.get(key) ?? {}),
      ),
    }),
  }
}

function formatForm({ name, payload }: Form): string {
  return `${name} ${canonicalizeJson(payload)}`
}

function joinByName({ item, parts }: Need): Form[] {
  const { joinDeltas } = getItemSpec(item)
  return joinDeltas === undefined
    ? parts
    : [...groupBy(parts, (part) => part.name).values()].map((same) => joinDeltas(same))
}

/** Joins the forms of several columns: one payload per item. */
function joinItems(columns: Record<ItemKey, Form>[]): Record<ItemKey, Form> {
  const forms = groupBy(
    columns.flatMap((items) => Object.entries(items)),
    ([item]) => item,
  )
  const sorted = [...forms].toSorted(compareKeys)
  return Object.fromEntries(
    sorted.flatMap(([item, own]) => {
      const [first, ...more] = own.map(([, form]) => form)
      if (first === undefined) return []
      return [
        [
          item,
          more.length === 0 ? first : (getItemSpec(item).joinDeltas?.([first, ...more]) ?? first),
        ],
      ]
    }),
  )
}
