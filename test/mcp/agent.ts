import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { JsonObject } from '../../src/core/model/json.ts'
import { createServer } from '../../src/cli/mcp/server.ts'
import { Session } from '../../src/cli/mcp/session.ts'
import type { Place } from '../steps/cli.ts'

/** Result of a tool. */
export interface Called {
  isError: boolean
  texts: string[]
  /** The data between the marks of the first text; null if a page has only a part. */
  data: JsonObject
}

/** A client of the SDK, connected to the tools of a workspace. */
export interface Agent {
  client: Client
  defects: unknown[]
  call(name: string, args?: JsonObject): Promise<Called>
  close(): Promise<void>
}

/** Connects a client to the tools of a place, within this process. */
export async function connectAgent(place: Place): Promise<Agent> {
  const defects: unknown[] = []
  const session = new Session(place.root, place.createIo())
  const { server } = createServer(session, '1.2.3', (error) => void defects.push(error))
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '0' })
  await Promise.all([server.connect(theirs), client.connect(ours)])
  return {
    client,
    defects,
    call: (name, args = {}) => callTool(client, name, args),
    close: () => client.close(),
  }
}

/** Calls a tool, and takes the data out of its result. */
export async function callTool(client: Client, name: string, args: JsonObject): Promise<Called> {
  const { content, isError } = await client.callTool({ name, arguments: args })
  const texts = (content as { text: string }[]).map(({ text }) => text)
  return { isError: isError === true, texts, data: parseData(texts[0] ?? '') }
}

/** Parses the data between the marks of a text. */
export function parseData(text: string): JsonObject {
  const [, digest = '', rest = ''] = /\n\[data ([0-9a-f]{16})\]\n([^]*)$/.exec(text) ?? []
  const [data = ''] = rest.split(`\n[end of data ${digest}]`)
  try {
    return JSON.parse(data) as JsonObject
  } catch {
    return { part: data }
  }
}
