import type { Readable, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import {
  createConnection,
  ProposedFeatures,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node'
import type { Outside } from '../../operations/runtime/parts.ts'
import { answerRequests } from './requests.ts'
import { LanguageSession } from './session.ts'

/** Number of files of state that are loaded before other messages have their turn. */
const filesInTurn = 20

/**
 * Serves an editor by the Language Server Protocol until it ends the connection.
 *
 * @param outside without threads and cache: the session keeps what it has loaded
 */
export async function serveEditor(
  outside: Outside,
  input: Readable,
  output: Writable,
): Promise<void> {
  const { pool: _pool, cache: _cache, onPhase: _phase, note: _note, ...others } = outside
  const own = { ...others, disk: giveTurns(outside.disk) }
  const connection = createConnection(
    ProposedFeatures.all,
    new StreamMessageReader(input),
    new StreamMessageWriter(output),
  )
  const session = new LanguageSession(connection, own)
  answerRequests(connection, session, own)
  await new Promise<void>((resolve) => {
    input.once('close', resolve)
    input.once('end', resolve)
    own.signal.addEventListener('abort', () => resolve(), { once: true })
    connection.listen()
  })
  session.end()
}

/** Lets other messages have their turn while a large state is loaded. */
function giveTurns(disk: Outside['disk']): Outside['disk'] {
  let count = 0
  return {
    ...disk,
    read: async (path) => {
      if (++count % filesInTurn === 0) await setImmediate()
      return disk.read(path)
    },
  }
}
