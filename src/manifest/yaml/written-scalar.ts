/** A number that is not written as it is printed, or nothing (an empty text) behind a key. */
export interface WrittenScalar {
  pointer: string
  text: string
}
