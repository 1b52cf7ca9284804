import { crc32 } from 'node:zlib'

const format = 'edgewise.code/1'

/** Formats compiled code of files, by their names. V8 does not check it, so it has a checksum. */
export function formatCode(codes: ReadonlyMap<string, Buffer>): Buffer {
  const sizes = [...codes].map(([name, { length }]) => `${name} ${length}`)
  const body = Buffer.concat([Buffer.from(`${sizes.join()}\n`), ...codes.values()])
  return Buffer.concat([Buffer.from(`${format} ${crc32(body)}\n`), body])
}

/** Parses compiled code of files; none if the content is damaged or of another format. */
export function parseCode(content: Buffer | null): Map<string, Buffer> {
  const codes = new Map<string, Buffer>()
  if (content === null) return codes
  const start = content.indexOf('\n') + 1
  const body = content.subarray(start)
  if (content.toString('latin1', 0, start) !== `${format} ${crc32(body)}\n`) return codes
  let at = body.indexOf('\n') + 1
  for (const file of body.toString('latin1', 0, at).split(',')) {
    const [name = '', size] = file.split(' ')
    const from = at
    at += Number(size)
    codes.set(name, body.subarray(from, at))
  }
  return codes
}
