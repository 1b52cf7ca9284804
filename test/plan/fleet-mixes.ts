import { createRandom } from '../../src/core/plan/assign-waves.ts'

/** `needs[d]` lists the items of domain d, each with the number of its value. */
export type Mix = [item: string, value: number][][]

const items = [
  'cache_rule',
  'compress_response',
  'https',
  'origin',
  'origin_host',
  'referer',
  'video_drag',
]

/** Families of change mixes: each makes a mix of about so many domains, from a seed. */
export const families: Record<string, (domains: number, seed: number) => Mix> = {
  planted,
  overlap,
  layered,
  zipf,
  tenants,
  partial,
}

/** Cuts shuffled domains into tens that share values, in layers with items of their own. */
function planted(domains: number, seed: number): Mix {
  const random = createRandom(seed)
  const needs = createEmptyNeeds(domains)
  const order = shuffle(items, random)
  for (let from = 0; from < order.length;) {
    const own = order.slice(from, from + 1 + Math.floor(random() * 3))
    from += own.length
    const share = from === own.length ? 1 : (drawOne([0.5, 0.8, 1], random) ?? 1)
    const rows = shuffle([...needs.keys()], random).slice(0, share * domains)
    const values = Math.ceil(rows.length / 27)
    for (let i = 0; i < rows.length; i += 10) {
      const drawn = own.map((): number => Math.floor(random() * values))
      for (const row of rows.slice(i, i + 10)) {
        for (const [place, item] of own.entries()) needs[row]?.set(item, drawn[place] ?? 0)
      }
    }
  }
  return toSortedMix(needs)
}

/** Puts overlapping rectangles on the domains of classes; each class has one profile. */
function overlap(domains: number, seed: number): Mix {
  const random = createRandom(seed)
  const needs = createEmptyNeeds(domains)
  const classes = Math.ceil(domains / 60)
  const profiles = Array.from({ length: classes }, () => items.map(() => Math.floor(random() * 5)))
  const members = profiles.map((): number[] => [])
  for (let row = 0; row < domains; row++) members[Math.floor(random() * classes)]?.push(row)
  for (let i = 0; i < domains / 4; i++) {
    const index = Math.floor(random() * classes)
    const rows = shuffle(members[index] ?? [], random).slice(0, 5 + Math.floor(random() * 6))
    for (const item of shuffle(items, random).slice(0, 2 + Math.floor(random() * 3))) {
      for (const row of rows) needs[row]?.set(item, profiles[index]?.[items.indexOf(item)] ?? 0)
    }
  }
  return toSortedMix(needs)
}

/** Chooses items by region, tier and tenant; some domains lack some items. */
function layered(domains: number, seed: number): Mix {
  const random = createRandom(seed)
  const count = Math.ceil(domains / 12)
  return toSortedMix(
    createEmptyNeeds(domains).map((own) => {
      const [region, tier] = [Math.floor(random() * 8), Math.floor(random() * 4)]
      const tenant = drawZipf(count, random)
      own.set('origin', region)
      own.set('https', tier)
      own.set('cache_rule', region * 4 + tier)
      if (random() < 0.7) own.set('referer', tenant)
      if (random() < 0.3) own.set('compress_response', tier)
      if (random() < 0.2) own.set('origin_host', tenant)
      return own
    }),
  )
}

/** Gives each item a few popular values and many rare ones. */
function zipf(domains: number, seed: number): Mix {
  const random = createRandom(seed)
  return toSortedMix(
    createEmptyNeeds(domains).map((own) => {
      for (const item of items.slice(0, 5)) {
        if (random() < 0.7) own.set(item, drawZipf(Math.ceil(domains / 5), random))
      }
      return own
    }),
  )
}

/** Changes two items of all domains and one to three of each tenant. */
function tenants(domains: number, seed: number): Mix {
  const random = createRandom(seed)
  const count = Math.ceil(domains / 25)
  const own = Array.from({ length: count }, () => shuffle(items.slice(2), random).slice(0, 3))
  return toSortedMix(
    createEmptyNeeds(domains).map((needs) => {
      const tenant = drawZipf(count, random)
      needs.set('cache_rule', 0)
      needs.set('compress_response', tenant % 3)
      for (const item of own[tenant] ?? []) if (random() < 0.8) needs.set(item, tenant % 40)
      return needs
    }),
  )
}

/** Applies a few standard profiles to domains that lack different items of them. */
function partial(domains: number, seed: number): Mix {
  const random = createRandom(seed)
  const profiles = Math.ceil(domains / 200)
  return toSortedMix(
    createEmptyNeeds(domains).map((own) => {
      const profile = Math.floor(random() * profiles)
      for (const [i, item] of items.entries()) {
        if (random() < 0.6) own.set(item, (profile * (i + 3)) % (profiles + i))
      }
      return own
    }),
  )
}

function createEmptyNeeds(domains: number): Map<string, number>[] {
  return Array.from({ length: domains }, () => new Map<string, number>())
}

function toSortedMix(needs: Map<string, number>[]): Mix {
  return needs
    .filter((own) => own.size > 0)
    .map((own) => [...own].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Draws a number below `count`; small numbers are far more frequent. */
function drawZipf(count: number, random: () => number): number {
  return Math.min(count - 1, Math.floor((count + 1) ** random()) - 1)
}

function drawOne<T>(list: T[], random: () => number): T | undefined {
  return list[Math.floor(random() * list.length)]
}

function shuffle<T>(list: T[], random: () => number): T[] {
  return list
    .map((value) => ({ value, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ value }) => value)
}
