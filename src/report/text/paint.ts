/** How parts of a text are set off. What stands between the escape codes stays as it is. */
export interface Paint {
  bold(this: void, text: string): string
  dim(this: void, text: string): string
  red(this: void, text: string): string
  green(this: void, text: string): string
  yellow(this: void, text: string): string
  cyan(this: void, text: string): string
}

/** Sets nothing off: for files, pipes and terminals without colour. */
export const plainPaint: Paint = {
  bold: same,
  dim: same,
  red: same,
  green: same,
  yellow: same,
  cyan: same,
}

function same(text: string): string {
  return text
}
