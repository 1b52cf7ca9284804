import { getOwn, isObject, type Json, type JsonObject } from '../../core/model/json.ts'
import { listVariables } from '../../manifest/workspace-file/workspace-env.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import type { CiHost } from './choose-pin.ts'

/** Variables of the jobs, by names that need no quotes in a shell or an expression. */
export interface Variables {
  /** The token, which comes first, and the secrets: for the job that applies only. */
  secrets: string[]
  /** Variables without which `edgewise.yaml` can't be loaded: for every job. */
  common: string[]
  /** Variables of the address of the database with the state: secrets, for every job. */
  database: string[]
  /** Variables of the token for the drift job, if it reads from the service; null if not. */
  reading: string[] | null
}

/** Variables of a workflow, and sentences about what it can't pass, for the output. */
export interface WorkflowVariables {
  variables: Variables
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
  const { url = '', ...state } = getSection(content, 'state')
  const ofDatabase = list(findReferences(url))
  const needed = findReferences([service, state, secrets])
  const sources = Object.values(secrets).flatMap((source) => {
    const name = isObject(source) ? getOwn(source, 'env') : undefined
    // A reference as a name counts as a reference.
    return typeof name === 'string' && findReferences(name).length === 0
      ? [name.replaceAll('$${', () => '${')]
      : []
  })
  const secret = list([...findReferences(token), ...sources])
  const all = list([...secret, ...ofDatabase, ...needed])
  const firsts = new Map(all.toReversed().map((name) => [name.toUpperCase(), name]))
  const isFirst = (name: string) => firsts.get(name.toUpperCase()) === name
  // Names for GitHub are case-insensitive: two that differ in case only make a workflow invalid.
  const isValid = (name: string) =>
    patterns[host].test(name) && (host === 'gitlab' || isFirst(name))
  const others = Object.keys(secrets).filter((name) => {
    const source = getOwn(secrets, name)
    return isObject(source) && getOwn(source, 'env') === undefined
  })
  const isSecret = (name: string) => [...secret, ...ofDatabase].includes(name)
  const database = ofDatabase.filter((name) => isValid(name) && !secret.includes(name))
  const common = list(needed).filter((name) => isValid(name) && !isSecret(name))
  return {
    variables: {
      secrets: secret.filter(isValid),
      common,
      database,
      reading: service['readBack'] === true ? list(findReferences(token)).filter(isValid) : null,
    },
    note:
      formatNote(
        all.filter((name) => !isValid(name)),
        (names) =>
          `Not in the workflow: ${names}.\n` +
          'These are no valid names of secrets in CI, or differ in case only.\n' +
          'Choose others in edgewise.yaml.\n',
      ) +
      formatNote(
        others,
        (names) =>
          `Secrets from a file or a command: ${names}.\n` +
          'Make the file or the program available to the job that applies.\n',
      ) +
      formatNote(
        [...list(needed).filter(isSecret), ...ofDatabase.filter((name) => secret.includes(name))],
        (names) => `Every job needs ${names}, which has a secret. Use another variable for it.\n`,
      ),
  }
}

function getSection(content: JsonObject, key: string): JsonObject {
  const section = getOwn(content, key)
  return isObject(section) ? section : {}
}

/** Finds the names in `${env:NAME}`; `$${` is an escape. */
function findReferences(value: Json): string[] {
  if (typeof value === 'string') return listVariables(value)
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(findReferences)
}

function list(names: string[]): string[] {
  return [...new Set(names)].filter((name) => !ofRunner.test(name))
}

/** Formats what there is to say of some names; empty without one. */
function formatNote(names: string[], format: (names: string) => string): string {
  return names.length === 0 ? '' : format(names.map(escapeInvisible).join(', '))
}
