import { Argument, type Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/** `edgewise completion`: prints a shell completion script, built from the declared commands. */
export function declareCompletion(program: Command, declare: Declare): void {
  declare(program, 'completion', {
    description: 'print a shell completion script',
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
