import { writeSync } from 'node:fs'

/** A standard output of the process. */
export interface StandardOutput<Stream> {
  write(text: string): void
  /** Returns why the output could not be written; null if it could. */
  fault(): string | null
  /** Opens Node's stream, for what needs one. */
  open(): Stream
  /** Resolves when all is written. */
  finish(): Promise<void>
}

/**
 * Creates a standard output that writes without Node's stream while the descriptor takes all:
 * opening one takes a sixth of a short command's time. A stream writes at once to files, pipes and
 * terminals as well, except for Windows.
 *
 * A failing output throws nothing: the command continues and records its outcomes.
 */
export function createStandardOutput<Stream extends NodeJS.WritableStream>(
  descriptor: number,
  openStream: () => Stream,
): StandardOutput<Stream> {
  let fault: string | null = null
  let stream: Stream | null = null
  const fail = (error: NodeJS.ErrnoException) => void (fault ??= error.code ?? error.message)
  const open = () => {
    stream ??= openStream().on('error', fail)
    return stream
  }
  const writeRest = (bytes: Uint8Array) => void open().write(bytes)
  return {
    write: (text) => {
      if (fault !== null) return
      const bytes = Buffer.from(text)
      if (stream !== null || process.platform === 'win32') return writeRest(bytes)
      let written = 0
      try {
        while (written < bytes.length) written += writeSync(descriptor, bytes, written)
      } catch (error) {
        if (!(error instanceof Error)) throw error
        // Another process made the pipe one that does not wait.
        if ('code' in error && error.code === 'EAGAIN') writeRest(bytes.subarray(written))
        else fail(error)
      }
    },
    fault: () => fault,
    open,
    finish: () =>
      new Promise((resolve) => {
        if (stream === null || fault !== null) resolve()
        else stream.write('', () => resolve())
      }),
  }
}

export const standardOutput = createStandardOutput(1, () => process.stdout)
export const standardError = createStandardOutput(2, () => process.stderr)
