import { commands, workspace, type ExtensionContext } from 'vscode'
import { LanguageClient } from 'vscode-languageclient/node'

let client: LanguageClient | undefined

/** Starts `edgewise lsp` for YAML files; the editor asks for it in folders with `edgewise.yaml`. */
export async function activate({ subscriptions }: Pick<ExtensionContext, 'subscriptions'>) {
  const settings = workspace.getConfiguration('edgewise')
  const command = settings.get<string>('program') ?? 'edgewise'
  // On Windows, npm installs a program as a script of the shell, which looks for names without a
  // folder in the workspace first, unless told not to; so does Node for git.
  const env = { NoDefaultCurrentDirectoryInExePath: '1' }
  const options = { shell: process.platform === 'win32', env }
  client = new LanguageClient(
    'edgewise',
    'Edgewise',
    { command, args: ['lsp', '--stdio'], options },
    { documentSelector: [{ scheme: 'file', language: 'yaml' }] },
  )
  subscriptions.push(commands.registerCommand('edgewise.restart', () => client?.restart()))
  await client.start()
}

/** Ends the server. */
export async function deactivate(): Promise<void> {
  await client?.stop()
}
