import { Argument, type Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/**
 * `edgewise completion`: prints a script that completes the command line; it is made from the
 * commands themselves.
 */
export function declareCompletion(program: Command, declare: Declare): void {
  declare(program, 'completion', {
    description: 'print a script that completes commands, options and items in a shell',
    examples: [
      'completion bash > /etc/bash_completion.d/edgewise',
      'completion zsh > ~/.zfunc/_edgewise',
      'completion fish > ~/.config/fish/completions/edgewise.fish',
    ],
    run: async ({ io }, [shell]) => {
      const { buildCompletionScript } = await import('../completion/completion-script.ts')
      io.out(buildCompletionScript(program, String(shell)))
      return exitCodes.done
    },
  }).addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
}
