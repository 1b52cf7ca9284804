/** A function of expressions: what it does, and an expression with it that is true. */
interface FunctionRow {
  description: string
  example: string
}

/** The functions that documents name, in the order of their use; CEL has some more. */
export const functions: Record<string, FunctionRow> = {
  has: { description: 'Whether a key is present.', example: 'has(config.origin)' },
  size: { description: 'Characters, entries or keys.', example: 'size(["a", "b"]) == 2' },
  contains: {
    description: 'Whether a text is in it.',
    example: '"www.example.com".contains(".ex")',
  },
  startsWith: { description: 'Whether it starts so.', example: '"/api/v1".startsWith("/api/")' },
  endsWith: { description: 'Whether it ends so.', example: '"a.example.com".endsWith(".com")' },
  matches: {
    description: 'Whether a regular expression matches in it, in linear time.',
    example: '"img7.png".matches("^img[0-9]+")',
  },
  lowerAscii: { description: 'The text in lower case.', example: '"GET".lowerAscii() == "get"' },
  indexOf: { description: 'The place of a text in it, or -1.', example: '"abc".indexOf("c") == 2' },
  substring: { description: 'A part by its places.', example: '"abcd".substring(1, 3) == "bc"' },
  split: { description: 'Its parts.', example: '"a,b".split(",") == ["a", "b"]' },
  join: { description: 'One text of a list.', example: '["a", "b"].join("-") == "a-b"' },
  exists: { description: 'Whether one passes.', example: '[1, 2].exists(n, n > 1)' },
  all: { description: 'Whether all pass.', example: '[1, 2].all(n, n > 0)' },
  exists_one: { description: 'Whether just one passes.', example: '[1, 2].exists_one(n, n > 1)' },
  filter: { description: 'Those that pass.', example: '[1, 2].filter(n, n > 1) == [2]' },
  map: { description: 'A value for each.', example: '[1, 2].map(n, n * 2) == [2, 4]' },
  int: { description: 'The whole number of a text.', example: 'int("60") == 60' },
  string: { description: 'The text of a value.', example: 'string(60) == "60"' },
  timestamp: {
    description: 'An instant, to compare.',
    example: 'timestamp("2026-02-01T00:00:00Z") > timestamp("2026-01-01T00:00:00Z")',
  },
}
