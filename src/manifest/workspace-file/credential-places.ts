import { inputLimits } from '../../core/model/input-limits.ts'
import { append, addUp } from '../../core/model/lists.ts'
import type { PlacedText } from '../../core/model/config.ts'
import { formatPointerStep, isObject, type Json, type JsonObject } from '../../core/model/json.ts'
import {
  createSecretCredential,
  createTokenCredential,
  getVariable,
  listSources,
  minLength,
  minLongLength,
  type Credential,
} from './credentials.ts'
import type { Finding } from '../manifests/finding.ts'
import { createHoldTest } from '../manifests/readings.ts'
import { environmentSections, listVariables, type Environment } from './workspace-env.ts'
import { createWorkspaceFinding } from './workspace-shape.ts'
import type { WorkspaceConfig } from './workspace.ts'

/**
 * Lists the texts in which a credential could leave its place: those with variables, addresses, and
 * the values of secrets from variables.
 *
 * @param written the file as it is
 * @param replaced the file with its variables replaced; it may be invalid
 */
export function listPlacedTexts(
  written: JsonObject,
  replaced: JsonObject,
  env: Environment,
): PlacedText[] {
  const texts: PlacedText[] = listSources(replaced).map(({ name, variable }) => ({
    pointer: `/secrets${formatPointerStep(name)}/env`,
    text: getVariable(env, variable),
    variables: [variable],
    minLength: minLongLength,
    isCredential: true,
  }))
  const visit = (before: Json | undefined, after: Json | undefined, pointer: string) => {
    if (typeof before === 'string' && typeof after === 'string')
      append(texts, placeText(before, after, pointer))
    else if (typeof before === 'object' && before !== null)
      for (const [key, part] of Object.entries(before))
        visit(part, getPart(after, key), pointer + formatPointerStep(key))
  }
  for (const section of environmentSections)
    visit(getPart(written, section), getPart(replaced, section), formatPointerStep(section))
  return texts
}

function placeText(before: string, text: string, pointer: string): PlacedText[] {
  const variables = listVariables(before)
  const isService = pointer === '/service/url' && text !== 'emulator'
  if (variables.length === 0 && !isService && !text.includes('://')) return []
  const isCredential = pointer === '/service/token'
  const isLong = isCredential || (variables.length === 0 && !isService)
  return [{ pointer, text, variables, minLength: isLong ? minLongLength : minLength, isCredential }]
}

function getPart(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(key)]
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Finds the texts with a credential that does not belong there. No message shows a value. */
export function findMisplaced(texts: PlacedText[], credentials: Credential[]): Finding[] {
  // A secret may be in the source of another one.
  const foreign = credentials.filter(({ isSecret }) => !isSecret)
  const select = ({ isCredential }: PlacedText) => (isCredential ? foreign : credentials)
  const known = texts.filter(({ isCredential }) => !isCredential).length
  const pairs = known * countValues(credentials) + (texts.length - known) * countValues(foreign)
  if (pairs > inputLimits.matches) return [createExcess(pairs)]
  return texts.flatMap((text) => {
    const others = select(text).filter((credential) => !credential.belongsTo(text))
    for (const { name, rule, variables } of others) {
      const variable = text.variables.find((each) => variables.has(each))
      if (variable === undefined) continue
      const holds = `the variable "${variable}" in "${formatKey(text)}" holds ${name}, ${rule}`
      return [createWorkspaceFinding(text.pointer, `${holds}. Use another variable here.`)]
    }
    const test = createHoldTest(text.text)
    const held = others.find((credential) => isHeld(text, credential, test))
    return held === undefined ? [] : [createHeld(text, `${held.name}, ${held.rule}`)]
  })
}

function countValues(credentials: Credential[]): number {
  return addUp(credentials, ({ values }) => values.length)
}

function createExcess(pairs: number): Finding {
  return createWorkspaceFinding(
    '/secrets',
    `expected at most ${inputLimits.matches} pairs of a credential and another text of this ` +
      `file, got ${pairs}. Use fewer secrets or receivers, or split the workspace.`,
  )
}

/** Finds the texts with the values of these secrets, and the secrets that have the token. */
export function checkSecretValues(
  { texts, service }: Pick<WorkspaceConfig, 'texts' | 'service'>,
  values: ReadonlyMap<string, string>,
): Finding[] {
  const sources = [...values].map(([name, text]) => ({
    pointer: `/secrets${formatPointerStep(name)}`,
    text,
    variables: [],
    minLength: minLongLength,
    isCredential: true,
  }))
  return [
    ...findMisplaced(sources, [createTokenCredential([], [service.token])]),
    ...findMisplaced(
      texts,
      [...values].map(([name, value]) => createSecretCredential(name, [], value)),
    ),
  ]
}

/** Creates the finding about a text with the value of a secret that is not named. */
export function createSecretFinding(text: PlacedText): Finding {
  return createHeld(text, 'a secret, which only items may use')
}

function createHeld(text: PlacedText, what: string): Finding {
  const source = text.variables.map((each) => `"${each}"`).join(', ')
  const from = source === '' ? '' : ` (from ${source})`
  return createWorkspaceFinding(
    text.pointer,
    `the value of "${formatKey(text)}"${from} contains ${what}. Remove it.`,
  )
}

/** Formats the key of a text: `notify[0].url`. */
function formatKey({ pointer }: PlacedText): string {
  return pointer
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
}

function isHeld(
  text: PlacedText,
  { values, ...credential }: Credential,
  test: ReturnType<typeof createHoldTest>,
): boolean {
  const length = Math.max(text.minLength, credential.minLength)
  return (
    values.some((value) => value.length >= minLength && value === text.text) || test(values, length)
  )
}
