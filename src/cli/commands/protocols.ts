import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { standardOutput } from '../../files/standard-output.ts'
import { version } from '../package-files.ts'
import type { Declare } from './declare.ts'

/** `edgewise lsp`: serves editors over standard input and output. */
export function declareLsp(declare: Declare): void {
  declare('lsp', {
    description: 'serve an editor: problems, hover, completion, rename (LSP)',
    examples: ['lsp'],
    run: async ({ io }) => {
      if (io.openStdin === null)
        throw new EdgewiseError(
          'usage',
          'lsp talks to an editor, and stdin is a terminal',
          'Let the editor start "edgewise lsp"; the guide "Editors" has the settings.',
        )
      const { serveEditor } = await import('../lsp/serve-editor.ts')
      await serveEditor(io, io.openStdin(), standardOutput.open())
      io.endSoon?.()
    },
  })
    .option('--stdio', 'talk over stdin and stdout, as it always does; editors pass this')
    .addHelpText(
      'after',
      `
It checks the workspaces of the open files, with their unsaved texts, as
"validate" does. It looks no secret up, runs no program, and calls nobody.`,
    )
}

/** `edgewise mcp`: tools for agents on stdin and stdout, which only read. */
export function declareMcp(declare: Declare): void {
  declare('mcp', {
    description: 'serve tools for assistants (MCP) on stdin and stdout; they only read',
    examples: ['mcp', 'mcp -C cdn'],
    run: async (context) => {
      const { findWorkspaceRoot } = await import('../open.ts')
      const { serveStdio } = await import('../mcp/serve-stdio.ts')
      await serveStdio(findWorkspaceRoot(context), context.io, version)
    },
  }).addHelpText(
    'after',
    `
An assistant starts this command and speaks the Model Context Protocol with it.
The workspace is fixed at the start. No tool writes to the service, to state or
to a file: people apply. Guide: docs/guides/assistants.md`,
  )
}
