/*
 * What came to the receiver, as lines of a file that is written before anything is acknowledged. A line that a kill cut
 * off was not acknowledged: each begins on a line of its own, and one that cannot be read is passed over.
 */
import { appendFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

export type Arrival =
  | { readonly way: 'push' | 'poll'; readonly token: string }
  | { readonly way: 'webhook'; readonly eventId: string; readonly body: string }
  | { readonly way: 'problem'; readonly text: string }

export function appendArrival(path: string, arrival: Arrival): void {
  appendFileSync(path, `\n${JSON.stringify(arrival)}\n`)
}

/** In the order in which they came. */
export async function readArrivals(path: string): Promise<Arrival[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Arrival]
    } catch {
      return []
    }
  })
}
