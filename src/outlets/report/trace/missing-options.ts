import { isObject, type Json } from '../../../core/model/json.ts'

/** The option that gives each fact. */
const options: [fact: RegExp, option: string][] = [
  [/^method$/, '--method GET'],
  [/^ip$/, '--ip ADDRESS'],
  [/^country$/, '--country NAME'],
  [/^isp$/, '--isp CARRIER'],
  [/^headers\./, '--no-other-headers'],
  [/^at$/, '--at TIME'],
  [/^time$/, '--time HH:MM'],
  [/^bodySize$/, '--body-size BYTES'],
  [/^origin\.status$/, '--origin-status 200'],
  [/^origin\.size$/, '--origin-size BYTES'],
  [/^origin\.headers\./, '--no-other-origin-headers'],
]

/** Lists the options that give the facts for which answers are unknown. */
export function listMissingOptions(trace: Json): string[] {
  const reasons = new Set<string>()
  const collect = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(collect)
    else if (isObject(value)) {
      const { unknown } = value
      if (Array.isArray(unknown) && !('managed' in value))
        for (const reason of unknown) reasons.add(String(reason))
      Object.values(value).forEach(collect)
    }
  }
  collect(trace)
  const facts = [...reasons].flatMap((reason) => /^not-given (.+)$/.exec(reason)?.[1] ?? [])
  return options.flatMap(([fact, option]) =>
    facts.some((each) => fact.test(each)) ? [option] : [],
  )
}
