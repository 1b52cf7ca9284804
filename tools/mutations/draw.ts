import { parseSync, visitorKeys } from 'oxc-parser'
import { Chance } from '../../test/simulation/chance.ts'
import type { Mutation } from './list.ts'

/** A part of a source, and what replaces it. */
interface Edit {
  start: number
  end: number
  text: string
}

interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

/** What only people see, what is no code when it runs, and what a browser alone runs. */
const unseen = /^(?:TemplateLiteral|ThrowStatement|Import.*|Export(?:All|Default).*|TS.*)$/
const wrappers = /^TS(?:As|Satisfies|NonNull)Expression$/
const unseenFiles = /^src\/outlets\/page\//

const turned: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
}
/** Methods without which a value keeps its type. */
const droppable = /^(?:filter|toSorted|toReversed|slice|trim|toLowerCase)$/

/** Rooms, as `npm run house` prints them, nearly. */
const roomOfPath = /^src\/((?:core|engine|outlets)\/[^/]+|[^/]+)/

/** Mutations of a room at least, where it has so many places. */
const leastOfRoom = 3

/** Draws mutations of different lines over all rooms, by the number of their places. */
export function drawMutations(
  sources: ReadonlyMap<string, string>,
  count: number,
  seed: string,
): Mutation[] {
  const rooms = new Map<string, Mutation[]>()
  for (const [path, text] of sources) {
    if (unseenFiles.test(path)) continue
    const room = roomOfPath.exec(path)?.[1] ?? path
    rooms.set(room, [...(rooms.get(room) ?? []), ...listMutations(path, text)])
  }
  const all = [...rooms.values()].reduce((sum, { length }) => sum + length, 0)
  const chosen = [...rooms].map(([room, places]) => {
    const share = Math.max(leastOfRoom, Math.round((count * places.length) / all))
    return keepOneOfEachLine(shuffle(places, new Chance(`${seed} ${room}`))).slice(0, share)
  })
  // The largest rooms give what the smallest have more than their share.
  for (let over = chosen.flat().length - count; over > 0; over--)
    chosen.toSorted((a, b) => b.length - a.length)[0]?.pop()
  return chosen.flat().toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function keepOneOfEachLine(mutations: Mutation[]): Mutation[] {
  const name = ({ path, occurrence, before }: Mutation) => `${path} ${occurrence} ${before}`
  return [...new Map(mutations.map((mutation) => [name(mutation), mutation])).values()]
}

function shuffle<T>(list: T[], chance: Chance): T[] {
  return list
    .map((each) => [chance.draw(), each] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, each]) => each)
}

/** Lists the mutations of a source; a line may have several. */
export function listMutations(path: string, text: string): Mutation[] {
  const edits: Edit[] = []
  visit(parseSync(path, text).program as unknown as Node, (node) => {
    edits.push(...listEdits(node, text))
  })
  return edits.flatMap((edit) => {
    const start = text.lastIndexOf('\n', edit.start - 1) + 1
    const end = text.indexOf('\n', edit.start)
    const mutated = text.slice(0, edit.start) + edit.text + text.slice(edit.end)
    if (edit.end > end || parseSync(path, mutated).errors.length > 0) return []
    const before = text.slice(start, end).trim()
    const after = mutated.slice(start, end + mutated.length - text.length).trim()
    const earlier = text.slice(0, start).split('\n')
    const occurrence = earlier.filter((line) => line.trim() === before).length + 1
    return [{ path, occurrence, before, after }]
  })
}

function visit(node: Node, see: (node: Node) => void): void {
  if (unseen.test(node.type) && !wrappers.test(node.type)) return
  see(node)
  for (const key of visitorKeys[node.type] ?? [])
    for (const child of [node[key]].flat() as (Node | null | undefined)[])
      if (child != null) visit(child, see)
}

/** Lists what a node could be instead: a turned condition, a call left out, another constant. */
function listEdits(node: Node, text: string): Edit[] {
  const child = (key: string) => node[key] as Node
  const get = ({ start, end }: Node) => text.slice(start, end)
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'WhileStatement': {
      const { start, end } = child('test')
      return [{ start, end, text: `!(${text.slice(start, end)})` }]
    }
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const operator = turned[String(node['operator'])]
      const [{ end: start }, { start: end }] = [child('left'), child('right')]
      return operator === undefined ? [] : [{ start, end, text: ` ${operator} ` }]
    }
    case 'ExpressionStatement': {
      const { type } = child('expression')
      const isCall = /^(?:Call|Await)Expression$/.test(type)
      return isCall ? [{ start: node.start, end: node.end, text: 'void 0' }] : []
    }
    case 'CallExpression': {
      const callee = child('callee')
      const object = callee['object'] as Node | undefined
      const name = callee['property'] as Node | undefined
      return object !== undefined && name !== undefined && droppable.test(get(name))
        ? [{ start: object.end, end: node.end, text: '' }]
        : []
    }
    case 'Literal':
      // A comparison may return any number below or above 0.
      return /-(?:1 : )?$/.test(text.slice(node.start - 5, node.start)) ? [] : listConstants(node)
    default:
      return []
  }
}

function listConstants({ value, start, end }: Node): Edit[] {
  if (typeof value === 'number') return [{ start, end, text: String(value + 1) }]
  return typeof value === 'boolean' ? [{ start, end, text: String(!value) }] : []
}
