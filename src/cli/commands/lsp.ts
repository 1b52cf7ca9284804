import type { Command } from 'commander'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { standardOutput } from '../../files/standard-output.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/** `edgewise lsp`: serves editors over standard input and output. */
export function declareLsp(program: Command, declare: Declare): void {
  declare(program, 'lsp', {
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
      return exitCodes.done
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
