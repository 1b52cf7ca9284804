/** Styles of text. The text between the escape codes is unchanged. */
export interface Paint {
  bold(this: void, text: string): string
  dim(this: void, text: string): string
  red(this: void, text: string): string
  green(this: void, text: string): string
  yellow(this: void, text: string): string
  cyan(this: void, text: string): string
}

/** Styles without effect, for files, pipes and terminals without colour. */
export const plainPaint: Paint = {
  bold: identity,
  dim: identity,
  red: identity,
  green: identity,
  yellow: identity,
  cyan: identity,
}

function identity(text: string): string {
  return text
}

/** Style of a report as text: uncoloured lines of at most 110 columns. */
export const plainStyle = { paint: plainPaint, columns: 110, verbose: false }
