import { getOwn, isObject, type Json, type JsonObject } from '../../model/json.ts'
import { escapeInvisible } from '../../report/text/escape-invisible.ts'
import type { CiHost } from './pin.ts'

/** Variables of a new workspace. */
export const initialVariables = ['EDGEWISE_TOKEN']

/** Variables of the job that applies, and what its workflow can't pass. */
export interface WorkflowVariables {
  /** Names that need no quotes in a shell or an expression; that of the token comes first. */
  names: string[]
  /** Sentences about everything else, for the output. */
  note: string
}

/** Variables that every runner sets. */
const ofRunner = /^(?:CI|HOME|LANG|PATH|PWD|SHELL|TMPDIR|USER)$/

const patterns: Record<CiHost, RegExp> = {
  github: /^(?!GITHUB_)[A-Z_][A-Z0-9_]*$/i,
  gitlab: /^(?!CI_|GITLAB_)[A-Z_][A-Z0-9_]*$/i,
}

/**
 * Collects the variables that `edgewise.yaml` refers to.
 *
 * @param content of the file as written; it may be invalid
 */
export function collectVariables(content: JsonObject, host: CiHost): WorkflowVariables {
  const { token = '${env:EDGEWISE_TOKEN}', ...service } = getSection(content, 'service')
  const secrets = getSection(content, 'secrets')
  const needed = findReferences([service, getSection(content, 'state'), secrets])
  const sources = Object.values(secrets).flatMap((source) => {
    const name = isObject(source) ? getOwn(source, 'env') : undefined
    // A reference as a name counts as a reference.
    return typeof name === 'string' && findReferences(name).length === 0
      ? [name.replaceAll('$${', () => '${')]
      : []
  })
  const all = list([...findReferences(token), ...needed, ...sources])
  const firsts = new Map(all.toReversed().map((name) => [name.toUpperCase(), name]))
  const isFirst = (name: string) => firsts.get(name.toUpperCase()) === name
  // Names for GitHub are case-insensitive: two that differ in case only make a workflow invalid.
  const isValid = (name: string) =>
    patterns[host].test(name) && (host === 'gitlab' || isFirst(name))
  const others = Object.keys(secrets).filter((name) => {
    const source = getOwn(secrets, name)
    return isObject(source) && getOwn(source, 'env') === undefined
  })
  return {
    names: all.filter(isValid),
    note:
      formatInvalid(all.filter((name) => !isValid(name))) +
      formatOthers(others) +
      formatNeeded(list(needed)),
  }
}

function getSection(content: JsonObject, key: string): JsonObject {
  const section = getOwn(content, key)
  return isObject(section) ? section : {}
}

/** Finds the names in `${env:NAME}`; `$${` is an escape. */
function findReferences(value: Json): string[] {
  if (typeof value === 'string')
    return [...value.matchAll(/\$\$\{|\$\{env:([^}]*)\}/g)].flatMap(([, name]) => name ?? [])
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(findReferences)
}

function list(names: string[]): string[] {
  return [...new Set(names)].filter((name) => !ofRunner.test(name))
}

function formatInvalid(names: string[]): string {
  return names.length === 0
    ? ''
    : `Not in the workflow: ${join(names)}.\n` +
        'These are no valid names of secrets in CI, or differ in case only.\n' +
        'Choose others in edgewise.yaml.\n'
}

function formatOthers(names: string[]): string {
  return names.length === 0
    ? ''
    : `Secrets from a file or a command: ${join(names)}.\n` +
        'Make the file or the program available to the job that applies.\n'
}

/** Formats the variables without which the file can't be loaded, so that no job can run. */
function formatNeeded(names: string[]): string {
  return names.length === 0
    ? ''
    : `Every job needs ${join(names)}, because edgewise.yaml refers to it.\n` +
        'Set it in the jobs that plan or detect drift, too.\n'
}

function join(names: string[]): string {
  return names.map(escapeInvisible).join(', ')
}
