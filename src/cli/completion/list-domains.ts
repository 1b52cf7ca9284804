import { loadWorkspaceFiles } from '../../manifest/load-workspace.ts'
import { scanDomains } from '../../manifest/scan-domains.ts'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { CommandContext } from '../io.ts'
import { findWorkspaceRoot } from '../open.ts'

/**
 * Lists the domains of the workspace that begin with a text, sorted; none without a valid
 * `edgewise.yaml`. Uses neither state nor network.
 */
export function listDomains(context: CommandContext, prefix: string): string[] {
  try {
    const { files } = loadWorkspaceFiles(findWorkspaceRoot(context), context.io.env)
    const domains = new Set(files.flatMap(({ text }) => scanDomains(text)))
    const start = prefix.toLowerCase()
    return [...domains].filter((domain) => domain.startsWith(start)).toSorted()
  } catch (error) {
    if (error instanceof EdgewiseError) return []
    throw error
  }
}
