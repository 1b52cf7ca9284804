declare const maker: unique symbol

/** A text that others made: the service, git, a database, another program. */
export type ForeignText = string & { readonly [maker]: 'foreign' }
/** A text of who asks: an argument of a tool, a part of a request. */
export type AskedText = string & { readonly [maker]: 'asked' }

/** Marks a text of others where it arrives; with a text of one's own it would be a mixture. */
export function markForeign(text: string): ForeignText {
  return text as ForeignText
}

/** Marks a text of who asks where it arrives. */
export function markAsked(text: string): AskedText {
  return text as AskedText
}

/** Maximum length of a quoted text of who asks, in UTF-16 code units. */
const maxAsked = 100

/** Quotes a text of who asks, for a message. It is never searched for parts of secrets. */
export function quoteAsked(text: AskedText): string {
  return JSON.stringify(text.length > maxAsked ? `${text.slice(0, maxAsked)}…` : text)
}
