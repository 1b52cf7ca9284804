/** IP addresses, compared as numbers. */
export interface Address {
  version: 4 | 6
  number: bigint
}

/** Reads one IP address; null if it is none. `::ffff:a.b.c.d` is taken as `a.b.c.d`. */
export function parseAddress(text: string): Address | null {
  const four = parseFour(text)
  if (four !== null) return { version: 4, number: four }
  const six = parseSix(text)
  if (six === null) return null
  return six >> 32n === 0xffffn
    ? { version: 4, number: six & 0xffffffffn }
    : { version: 6, number: six }
}

function parseFour(text: string): bigint | null {
  if (!/^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(text)) return null
  const parts = text.split('.').map(Number)
  if (parts.some((part) => part > 255)) return null
  return parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n)
}

function parseSix(text: string): bigint | null {
  const halves = text.split('::')
  if (halves.length > 2) return null
  const [head, tail] = halves.map((half, i) => parseGroups(half, i === halves.length - 1))
  if (head === undefined || head === null || tail === null) return null
  if (tail === undefined) return head.length === 8 ? joinGroups(head) : null
  const missing = 8 - head.length - tail.length
  if (missing < 1) return null
  return joinGroups([...head, ...Array.from({ length: missing }, () => 0), ...tail])
}

/** Reads groups of hex digits; at the end of an address, IPv4 may stand for two of them. */
function parseGroups(text: string, atEnd: boolean): number[] | null {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    const four = atEnd && i === parts.length - 1 ? parseFour(part) : null
    if (four !== null) groups.push(Number(four >> 16n), Number(four & 0xffffn))
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16))
    else return null
  }
  return groups
}

function joinGroups(groups: number[]): bigint {
  return groups.reduce((sum, group) => (sum << 16n) + BigInt(group), 0n)
}

/** Writes an address; IPv6 with its longest row of zeros left out (RFC 5952). */
export function writeAddress({ version, number }: Address): string {
  if (version === 4)
    return [24n, 16n, 8n, 0n].map((shift) => String((number >> shift) & 255n)).join('.')
  const groups = Array.from({ length: 8 }, (_, i) =>
    ((number >> BigInt(16 * (7 - i))) & 0xffffn).toString(16),
  )
  const rows = [...groups.join(':').matchAll(/(?<![0-9a-f])0(:0)+(?![0-9a-f])/g)]
  const longest = rows.toSorted((a, b) => b[0].length - a[0].length)[0]
  if (longest === undefined) return groups.join(':')
  const text = groups.join(':')
  const before = text.slice(0, longest.index).replace(/:$/, '')
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, '')
  return `${before}::${after}`
}

/** Tests whether an address equals an entry or is in the network that the entry names. */
export function isInEntry(address: Address | 'unlisted', entry: string): boolean {
  if (address === 'unlisted') return false
  const [base = '', length] = entry.split('/')
  const other = parseAddress(base)
  if (other === null || other.version !== address.version) return false
  const bits = address.version === 4 ? 32 : 128
  const shift = BigInt(bits - (length === undefined ? bits : Number(length)))
  return address.number >> shift === other.number >> shift
}
