import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import { version } from '../package-files.ts'
import type { Declare } from './declare.ts'

/** `edgewise mcp`: tools for agents on stdin and stdout, which only read. */
export function declareMcp(program: Command, declare: Declare): void {
  declare(program, 'mcp', {
    description: 'serve tools for assistants (MCP) on stdin and stdout; they only read',
    examples: ['mcp', 'mcp -C cdn'],
    run: async (context) => {
      const { findWorkspaceRoot } = await import('../open.ts')
      const { serveStdio } = await import('../mcp/serve-stdio.ts')
      await serveStdio(findWorkspaceRoot(context), context.io, version)
      return exitCodes.done
    },
  }).addHelpText(
    'after',
    `
An assistant starts this command and speaks the Model Context Protocol with it.
The workspace is fixed at the start. No tool writes to the service, to state or
to a file: people apply. Guide: docs/guides/assistants.md`,
  )
}
