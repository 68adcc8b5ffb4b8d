/* How what a check found is written down: sentences with the names of columns in braces. */

/** What columns must hold, in lower case. */
type Wanted = Readonly<Record<string, string | readonly string[]>>

/** Fits where every column that it names holds something, and those before it hold what is wanted. */
export type Sentence = string | readonly [wanted: Wanted, text: string]

/** The first one that fits is said. */
export type Sentences = string | readonly Sentence[]

/** For all platforms, or for each. */
export type FoundWords =
  Sentences | Readonly<Partial<Record<'darwin' | 'windows' | 'linux', Sentences>>>

/** How property lists and profiles spell that something is off, and on. */
export const OFF = ['0', 'false', 'no'] as const
export const ON = ['1', 'true', 'yes'] as const
