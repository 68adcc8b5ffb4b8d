/** The lines of a text: trimmed, each once. */
export function toLines(text: string): string[] {
  return [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '')
}

/** What is wrong with a list, or with one of its members. */
export function findFault(
  faults: Readonly<Record<string, string>> | null,
  name: string,
): string | undefined {
  return Object.entries(faults ?? {}).find(
    ([path]) => path === name || path.startsWith(`${name}.`),
  )?.[1]
}
