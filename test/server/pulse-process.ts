/** A process with a listener for probes that blocks its thread for as long as stdin says, ms. */
import { answerText } from '../../src/server/http/answer.ts'
import { type PulseTerm, startPulse } from '../../src/server/leader/pulse.ts'

const [, , text = 'null', port = '0'] = process.argv
const pulse = await startPulse(
  { port: Number(port), host: '127.0.0.1' },
  { findUnhealthy: () => null, answer: async ({ url }) => answerText(200, url) },
  { tickMs: 100, quietMs: 300, hungMs: 2000, answerMs: 300 },
)
pulse.lead(JSON.parse(text) as PulseTerm | null)
process.stdout.write(`${pulse.port}\n`)
process.stdin.on('data', (ms) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms))
  process.stdout.write('free\n')
})
process.stdin.on('end', () => void pulse.close())
