const LAST_LINES = 6

/** Failures that an operator can do something about, by what the server says. */
const KNOWN: readonly { readonly pattern: RegExp; readonly text: string }[] = [
  {
    pattern: /No space left on device|could not extend file|Disk quota exceeded/i,
    text: 'the disk is full. Free some space, then start again.',
  },
  {
    pattern: /lock file ".*" already exists|pre-existing shared memory block/i,
    text: 'another server process uses this database.',
  },
  {
    pattern: /could not look up effective user ID/i,
    text: 'the number of this user has no entry in /etc/passwd, which the first start needs. Add one, or set DATABASE_URL.',
  },
  {
    pattern: /could not create shared memory segment|Cannot allocate memory/i,
    text: 'the system does not give it enough memory.',
  },
  {
    pattern: /Permission denied|Operation not permitted/i,
    text: 'the user of the server may not use its files. Start the service as the user who owns the data folder.',
  },
  {
    pattern: /Read-only file system/i,
    text: 'the file system of the data folder is read-only.',
  },
]

/** What went wrong, from the last lines that the server or `initdb` wrote. */
export function describeServerFailure(lines: readonly string[]): string {
  const text = lines.filter((line) => line.trim() !== '').slice(-LAST_LINES)
  const known = KNOWN.find(({ pattern }) => text.some((line) => pattern.test(line)))
  const said = text.length === 0 ? 'it said nothing' : `it said: ${text.join(' / ')}`
  return known === undefined ? said : `${known.text} (${said})`
}

/**
 * Whether the server did not start because an earlier one of the same cluster has not gone away
 * entirely: a killed process is in the way until its parent has collected it, for up to two seconds.
 */
export function isEarlierServerInTheWay(lines: readonly string[]): boolean {
  return lines.some((line) =>
    /lock file ".*" already exists|pre-existing shared memory block/.test(line),
  )
}
