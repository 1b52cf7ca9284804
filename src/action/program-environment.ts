import { delimiter, isAbsolute } from 'node:path'
import type { Env } from './inputs.ts'

/** Variables that make Node load files, or that let a program give the runner commands. */
const withheld = new RegExp(
  '^(INPUT_.*|NODE_.*|GITHUB_(ENV|PATH|OUTPUT|STATE|STEP_SUMMARY)|' +
    'ACTIONS_(RUNTIME|CACHE|RESULTS)_.*)$',
  'i',
)

/**
 * Builds the environment of the program: without the inputs, among them the code host's token,
 * without settings of Node, and without folders of the checkout in PATH, where a pull request could
 * put a program named git. An empty PATH would be the current folder. Proxies, certificates and
 * secrets stay.
 *
 * @param isInCheckout whether a path leads into the checkout
 */
export function buildProgramEnvironment(env: Env, isInCheckout: (path: string) => boolean): Env {
  const path = (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isInCheckout(folder))
    .join(delimiter)
  const kept = Object.entries(env).filter(
    ([name]) => name === 'NODE_EXTRA_CA_CERTS' || !withheld.test(name),
  )
  return { ...Object.fromEntries(kept), PATH: path === '' ? '/nonexistent' : path }
}
