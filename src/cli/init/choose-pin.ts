import { EdgewiseError } from '../../core/model/edgewise-error.ts'

/** Options of `edgewise init`. */
export interface InitOptions {
  ci?: CiHost | 'none'
  /** The program that the workflow runs, pinned by hash. */
  action?: string
}

/**
 * Parses the options: what a workflow runs; null for no workflow, undefined without these options.
 *
 * @throws EdgewiseError `usage`
 */
export function parseChoice({ ci, action }: InitOptions): Pin | null | undefined {
  if (ci === 'none') {
    if (action === undefined) return null
    throw new EdgewiseError(
      'usage',
      '--ci none writes no workflow, so --action has no effect',
      'Leave out one of them.',
    )
  }
  if (action !== undefined) return parsePin(ci ?? inferHost(action), action)
  if (ci === undefined) return undefined
  throw new EdgewiseError(
    'usage',
    `--ci ${ci} needs --action ${pinForms[ci]}: what the workflow runs, pinned by a hash`,
    `"edgewise help init" describes it. Without a workflow: edgewise init --ci none`,
  )
}

/** CI service that a workflow is written for. */
export type CiHost = 'github' | 'gitlab'

/** The program that a workflow runs, pinned by hash. */
export interface Pin {
  host: CiHost
  /** `OWNER/REPO@SHA` for GitHub, `IMAGE@sha256:DIGEST` for GitLab. */
  reference: string
}

/** Forms of `--action`, for help. */
export const pinForms: Record<CiHost, string> = {
  github: 'OWNER/REPO@SHA',
  gitlab: 'IMAGE@sha256:DIGEST',
}

const owner = '[A-Za-z0-9][A-Za-z0-9_-]{0,38}'
const repository = String.raw`(?!\.{1,2}@)[A-Za-z0-9._-]{1,100}`
const imagePart = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const label = '[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*'
// A first part without a dot or a port is a part of the name.
const registry = String.raw`(?:(?:localhost|${label}(?:\.${label})+|${label}(?=:))(?::\d{1,5})?/)?`
const image = String.raw`${registry}${imagePart}(?:/${imagePart})*(?::\w[\w.-]{0,127})?`

const patterns: Record<CiHost, RegExp> = {
  github: new RegExp(`^(${owner}/${repository})@([0-9a-fA-F]{40})$`),
  gitlab: new RegExp(`^(${image})@sha256:([0-9a-fA-F]{64})$`),
}

const expected: Record<CiHost, string> = {
  github: 'OWNER/REPO@SHA, where SHA is a commit of 40 hex digits',
  gitlab: 'IMAGE@sha256:DIGEST, where DIGEST has 64 hex digits',
}

const advice: Record<CiHost, string> = {
  github:
    'A tag or a branch can be moved to other code, which would then run with write permission; ' +
    'a commit can not. "git rev-parse TAG^{commit}" prints the commit of a tag.',
  gitlab:
    'A tag can be moved to another image, which would then run with the token of the service; ' +
    'a digest can not. "docker buildx imagetools inspect IMAGE:TAG" prints the digest of a tag.',
}

/**
 * Parses `--action` for a CI service.
 *
 * @throws EdgewiseError `usage` for anything that is not pinned by a hash
 */
function parsePin(host: CiHost, text: string): Pin {
  const [, name, hash] = patterns[host].exec(text) ?? []
  if (name === undefined || hash === undefined)
    throw new EdgewiseError(
      'usage',
      `--action: expected ${expected[host]}, got "${text}"`,
      advice[host],
    )
  const digest = `${host === 'gitlab' ? 'sha256:' : ''}${hash.toLowerCase()}`
  return { host, reference: `${name}@${digest}` }
}

/** Infers the CI service from the form of `--action`. */
function inferHost(text: string): CiHost {
  return text.includes('@sha256:') ? 'gitlab' : 'github'
}
