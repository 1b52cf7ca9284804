/**
 * Measures the memory of the emulator under 1,000 connections that occupy it in different ways, and
 * whether a regular client is served afterwards. Exits with 1 if a figure misses its goal. Linux
 * only: the peak is `VmHWM`.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const connections = 1000
const seconds = 5
const maxMebibytes = 300
const mebibyte = 1024 * 1024

const post = (length: number) =>
  `POST /v2/domain/config HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${length}\r\n\r\n`
const body = 'x'.repeat(mebibyte - 1)

/** Text that each connection sends at once; none of them receives an answer. */
const kinds: Record<string, string> = {
  'nothing is sent': '',
  'a header that does not end': `GET / HTTP/1.1\r\nX: ${'x'.repeat(8000)}`,
  'a body of 1 MiB that does not end': post(mebibyte) + body,
  'many pipelined requests': (post(mebibyte) + `${body}x`).repeat(4),
}

console.log(`${connections} connections for ${seconds} s${' '.repeat(20)}peak MiB   after it`)
for (const [kind, text] of Object.entries(kinds)) {
  const { peak, status } = await measure(text)
  const missed = peak > maxMebibytes || status !== 200
  console.log(
    `${kind.padEnd(44)} ${String(peak).padStart(8)} ${String(status).padStart(10)}` +
      (missed ? '  MISSED' : ''),
  )
  if (missed) process.exitCode = 1
}

async function measure(text: string): Promise<{ peak: number; status: number }> {
  const child = spawn(process.execPath, [program, 'emulator', '--quiet'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const line = await new Promise<string>((resolve) =>
      child.stdout.once('data', (printed) => resolve(String(printed))),
    )
    const url = line.replace('listening on ', '').trim()
    const sockets = Array.from({ length: connections }, () =>
      occupy(Number(new URL(url).port), text),
    )
    await sleep(seconds * 1000)
    const peak = getPeak(child)
    for (const socket of sockets) socket.destroy()
    return { peak, status: await query(url) }
  } finally {
    child.kill()
  }
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

/** Returns the highest resident memory of a process so far, MiB. */
function getPeak({ pid }: ChildProcess): number {
  const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Math.round(Number(found?.[1]) / 1024)
}

/** Returns the HTTP status of a regular query, tried for at most a minute. */
async function query(url: string): Promise<number> {
  for (let tries = 0; tries < 60; tries++) {
    try {
      const answer = await fetch(`${url}/v2/cache/prefetch?token=t&task_id=1`, {
        signal: AbortSignal.timeout(60_000),
      })
      if (answer.status !== 503) return answer.status
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
    await sleep(1000)
  }
  return 0
}
