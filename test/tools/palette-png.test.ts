import { deflateSync, inflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { reduceColours } from '../../tools/palette-png.ts'

/** Builds a PNG of RGB pixels, whose lines are filtered as their types ask for. */
function buildPng(rows: number[][], types: number[]): Buffer {
  const width = (rows[0]?.length ?? 0) / 3
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(rows.length, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const lines = rows.map((row, y) => {
    const type = types[y] ?? 0
    const at = (line: number, x: number) => rows[line]?.[x] ?? 0
    return [
      type,
      ...row.map((value, x) => {
        const [left, up, corner] = [at(y, x - 3), at(y - 1, x), at(y - 1, x - 3)]
        const guess = left + up - corner
        const paeth = [left, up, corner].toSorted(
          (a, b) => Math.abs(guess - a) - Math.abs(guess - b),
        )
        const predicted = [0, left, up, Math.floor((left + up) / 2), paeth[0] ?? 0]
        return (256 + value - (predicted[type] ?? 0)) % 256
      }),
    ]
  })
  const chunk = (type: string, data: Buffer) => {
    const size = Buffer.alloc(4)
    size.writeUInt32BE(data.length)
    return Buffer.concat([size, Buffer.from(type), data, Buffer.alloc(4)])
  }
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from(lines.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Reads the pixels of a PNG with a palette. */
function listPixels(png: Buffer): number[][] {
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    chunks.set(
      png.toString('latin1', at + 4, at + 8),
      png.subarray(at + 8, at + 8 + png.readUInt32BE(at)),
    )
  const width = chunks.get('IHDR')?.readUInt32BE(0) ?? 0
  const palette = chunks.get('PLTE') ?? Buffer.alloc(0)
  const lines = [...inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0))]
  return Array.from({ length: lines.length / (width + 1) }, (_, y) =>
    lines
      .slice(y * (width + 1) + 1, (y + 1) * (width + 1))
      .flatMap((index) => [...palette.subarray(index * 3, index * 3 + 3)]),
  )
}

const rows = Array.from({ length: 6 }, (_, y) =>
  Array.from({ length: 12 }, (__, x) => (x * 37 + y * 91 + ((x * y) % 5) * 50) % 256),
)

it.each([0, 1, 2, 3, 4])('keeps every pixel of a picture with few colours, filter %d', (type) => {
  const types = rows.map(() => type)
  expect(listPixels(reduceColours(buildPng(rows, types)))).toEqual(rows)
})

it('draws a rare colour as a near one, and keeps frequent ones and rare hues', () => {
  const greys = Array.from({ length: 300 }, (_, i) => [
    i % 256,
    i % 256,
    i < 256 ? i : 255 - (i % 256),
  ])
  const row = [...greys.flat(), ...Array.from({ length: 50 }, () => [10, 20, 30]).flat(), 250, 5, 5]
  const [drawn = []] = listPixels(reduceColours(buildPng([row], [0])))
  expect(drawn.slice(-6)).toEqual([10, 20, 30, 250, 5, 5])
  expect(
    new Set(Array.from({ length: 351 }, (_, i) => drawn.slice(i * 3, i * 3 + 3).join())).size,
  ).toBe(96)
  const distances = row.map((value, i) => Math.abs(value - (drawn[i] ?? 0)))
  expect(distances.filter((each) => each > 32)).toEqual([])
})

it('refuses what is no PNG of 8 bits of RGB', () => {
  expect(() => reduceColours(Buffer.from('GIF89a'))).toThrow('no PNG')
  const palette = reduceColours(buildPng(rows, []))
  expect(() => reduceColours(palette)).toThrow('the form 0803000000')
})
