import { Writable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import type { Io } from '../io.ts'
import { createServer } from './server.ts'
import { Session } from './session.ts'

/** Maximum size of what a client may send before a message is complete, bytes. */
const maxMessageBytes = 16 * 1024 * 1024

/**
 * Serves the protocol on stdin and stdout until stdin ends and all calls are answered, or the
 * process is stopped.
 *
 * @param root folder of `edgewise.yaml`, for all calls
 * @throws EdgewiseError `usage` if stdin is a terminal
 */
export async function serveStdio(root: string, io: Outside & Io, version: string): Promise<void> {
  if (io.openStdin === null)
    throw new EdgewiseError(
      'usage',
      'stdin is a terminal, and this command speaks a protocol for programs',
      'Name it in the configuration of your assistant: see docs/guides/assistants.md.',
    )
  const stdin = io.openStdin()
  const stdout = new Writable({
    decodeStrings: false,
    write: (text: string | Buffer, _encoding, done) => {
      io.out(text.toString())
      done()
    },
  })
  const logDefect = (error: unknown) =>
    io.err(`internal error: ${error instanceof Error ? (error.stack ?? '') : String(error)}\n`)
  const { server, finish } = createServer(new Session(root, io), version, logDefect)
  const ended = new Promise<void>((resolve) => {
    stdin.once('end', () => resolve(finish()))
    stdin.once('close', () => resolve(finish()))
    Object.assign(server, { onclose: resolve })
  })
  await server.connect(new StdioServerTransport(stdin, stdout, { maxBufferSize: maxMessageBytes }))
  await Promise.race([ended, io.waitForStop()])
  await server.close()
}
