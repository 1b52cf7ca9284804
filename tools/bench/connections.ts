/** Measures the memory of the emulator, which runs in a process of its own. */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRow, createUnmeasuredRow, type Row } from './row.ts'
import type { Workbench } from './workbench.ts'

const connections = 1000
const occupiedSeconds = 5
const maxMegabytes = 315
const mebibyte = 1024 * 1024
const body = 'x'.repeat(mebibyte - 1)
const post = (length: number) =>
  `POST /v2/domain/config HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${length}\r\n\r\n`

/** Text that each connection sends at once; none of them receives an answer. */
const occupations: Record<string, string> = {
  'nothing is sent': '',
  'a header that does not end': `GET / HTTP/1.1\r\nX: ${'x'.repeat(8000)}`,
  'a body of 1 MiB that does not end': post(mebibyte) + body,
  'many pipelined requests': (post(mebibyte) + `${body}x`).repeat(4),
}

/**
 * Measures the peak memory under 1,000 connections that occupy the emulator. A regular client must
 * be served afterwards. Linux only: the peak is `VmHWM`.
 */
export async function measureConnections(bench: Workbench): Promise<Row[]> {
  const rows: Row[] = []
  for (const [i, [kind, text]] of Object.entries(occupations).entries()) {
    const { url, child } = await bench.startEmulator()
    const port = Number(new URL(url).port)
    const sockets = Array.from({ length: connections }, () => occupy(port, text))
    await sleep(occupiedSeconds * 1000)
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    const peak = (Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / 1e6
    for (const socket of sockets) socket.destroy()
    const [id, what] = [`connections-${i}`, `peak, ${connections} connections, ${kind}`]
    rows.push(
      (await isServed(url))
        ? createRow(id, what, 'MB', peak, maxMegabytes)
        : createUnmeasuredRow(id, what, maxMegabytes, 'no regular client was served afterwards'),
    )
    child.kill()
  }
  return rows
}

function occupy(port: number, text: string): Socket {
  const socket = connect(port, '127.0.0.1', () => {
    if (text !== '') socket.write(text)
  })
  // A connection over the maximum is reset.
  socket.on('error', () => undefined)
  socket.pause()
  return socket
}

/** Tests whether a regular query is answered within a minute. */
async function isServed(url: string): Promise<boolean> {
  for (let tries = 0; tries < 60; tries++) {
    try {
      const answer = await fetch(`${url}/v2/cache/prefetch?token=t&task_id=1`, {
        signal: AbortSignal.timeout(60_000),
      })
      if (answer.status !== 503) return answer.ok
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
    await sleep(1000)
  }
  return false
}
