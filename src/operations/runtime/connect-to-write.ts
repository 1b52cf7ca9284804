import { createClient } from '../../service/write/client.ts'
import { connectToQuery } from './connect.ts'

/**
 * Connects as `connectToQuery` does, with a client of writes. In a file of its own: what only
 * queries the service can't reach a write.
 */
export async function connectToWrite(...given: Parameters<typeof connectToQuery>) {
  const connected = await connectToQuery(...given)
  return { ...connected, client: createClient(connected.connection) }
}
