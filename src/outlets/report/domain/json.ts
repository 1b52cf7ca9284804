import { pickDefined, type Json, type JsonObject } from '../../../core/model/json.ts'
import type { Place } from '../../../core/model/problem.ts'
import { buildOperation } from '../drift/json.ts'
import type { DomainSheet, SheetItem } from './sheet.ts'

/** Builds the JSON of a domain, `edgewise.domain/1`. */
export function buildSheetJson({
  domain,
  place,
  profiles,
  owners,
  recordedOnly,
  items,
}: DomainSheet): JsonObject {
  return {
    format: 'edgewise.domain/1',
    domain,
    place: place === null ? null : buildPlace(place),
    profiles: [...profiles],
    owners: [...owners],
    recordedOnly,
    items: Object.fromEntries(items.map((each) => [each.item, buildItem(each)])),
  }
}

function buildItem(item: SheetItem): Json {
  const { changed, pending, live, unreadable, ignored, sources, candidates, recorded } = item
  return pickDefined({
    value: item.value,
    condition: item.condition,
    candidates: [...candidates],
    status: recorded?.differs === true ? 'differs' : (recorded?.status ?? null),
    at: changed?.at ?? null,
    apply: changed?.apply ?? null,
    origin: changed?.origin ?? null,
    commit: changed?.commit ?? null,
    author: changed?.author ?? null,
    unknown: recorded?.unknown === true ? true : undefined,
    returned: recorded?.returned,
    unknownFields: recorded?.unknownFields,
    pending: pending === null ? undefined : pending.patch.map(buildOperation),
    live: live === null ? undefined : live.patch.map(buildOperation),
    refused: item.refused ?? undefined,
    unreadable: unreadable ?? undefined,
    ignored: ignored ?? undefined,
    sources: sources.map(({ field, place }) => ({
      field,
      place: place === null ? null : buildPlace(place),
    })),
  })
}

function buildPlace({ file, line, column, endLine, endColumn }: Place): JsonObject {
  return { file, line, column, endLine, endColumn }
}
