/** Where a command writes; `process.stdout` is one. */
export interface TextOutput {
  write(text: string): unknown
}

/**
 * Makes text from outside fit for a terminal: control and formatting characters are shown as
 * escapes, so that a token cannot move the cursor or forge a line.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}
