/** A function of expressions: what it does, and an expression with it that is true. */
type FunctionRow = [description: string, example: string]

/** The functions that documents name, in the order of their use; CEL has some more. */
export const functions: Record<string, FunctionRow> = {
  has: ['Whether a key is present.', 'has(config.origin)'],
  size: ['Characters, entries or keys.', 'size(["a", "b"]) == 2'],
  contains: ['Whether a text is in it.', '"www.example.com".contains(".ex")'],
  startsWith: ['Whether it starts so.', '"/api/v1".startsWith("/api/")'],
  endsWith: ['Whether it ends so.', '"a.example.com".endsWith(".com")'],
  matches: [
    'Whether a regular expression matches in it, in linear time.',
    '"img7.png".matches("^img[0-9]+")',
  ],
  lowerAscii: ['The text in lower case.', '"GET".lowerAscii() == "get"'],
  indexOf: ['The place of a text in it, or -1.', '"abc".indexOf("c") == 2'],
  substring: ['A part by its places.', '"abcd".substring(1, 3) == "bc"'],
  split: ['Its parts.', '"a,b".split(",") == ["a", "b"]'],
  join: ['One text of a list.', '["a", "b"].join("-") == "a-b"'],
  exists: ['Whether one passes.', '[1, 2].exists(n, n > 1)'],
  all: ['Whether all pass.', '[1, 2].all(n, n > 0)'],
  exists_one: ['Whether just one passes.', '[1, 2].exists_one(n, n > 1)'],
  filter: ['Those that pass.', '[1, 2].filter(n, n > 1) == [2]'],
  map: ['A value for each.', '[1, 2].map(n, n * 2) == [2, 4]'],
  int: ['The whole number of a text.', 'int("60") == 60'],
  string: ['The text of a value.', 'string(60) == "60"'],
  timestamp: [
    'An instant, to compare.',
    'timestamp("2026-02-01T00:00:00Z") > timestamp("2026-01-01T00:00:00Z")',
  ],
}
