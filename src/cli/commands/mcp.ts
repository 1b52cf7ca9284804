import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import { version } from '../package-files.ts'
import type { Declare } from './declare.ts'

interface McpOptions {
  allowApply?: boolean
  approver?: string
  plans?: string
}

/** `edgewise mcp`: tools for agents on stdin and stdout. They only read, without --allow-apply. */
export function declareMcp(program: Command, declare: Declare): void {
  declare<McpOptions>(program, 'mcp', {
    description: 'serve tools for assistants (MCP) on stdin and stdout; they only read',
    examples: ['mcp', 'mcp -C cdn', 'mcp --allow-apply --approver ~/approver.pub --plans plans'],
    run: async (context, _args, { allowApply = false, approver, plans }) => {
      const { findWorkspaceRoot } = await import('../open.ts')
      const { serveStdio } = await import('../mcp/serve-stdio.ts')
      const root = findWorkspaceRoot(context)
      if (allowApply !== (approver !== undefined) || allowApply !== (plans !== undefined))
        throw new EdgewiseError(
          'usage',
          'expected --allow-apply, --approver FILE and --plans DIR together, or none of them',
        )
      const more = []
      if (approver !== undefined && plans !== undefined) {
        const { createApplyTool } = await import('../agents/apply-tool.ts')
        more.push(createApplyTool(context, root, { approver, plans }))
      }
      await serveStdio(root, context.io, version, more)
      return exitCodes.done
    },
  })
    .option('--allow-apply', 'add a tool that applies saved plans which a person approved')
    .option('--approver <file>', 'public keys (PEM) of who approves, outside of the checkout')
    .option('--plans <dir>', 'folder with saved plans and their approvals')
    .addHelpText(
      'after',
      `
An assistant starts this command and speaks the Model Context Protocol with it.
The workspace is fixed at the start. No tool writes to the service, to state or
to a file, except for "apply" with --allow-apply, which takes only the digest of
a plan of "plan approve". Guide: docs/guides/assistants.md`,
    )
}
