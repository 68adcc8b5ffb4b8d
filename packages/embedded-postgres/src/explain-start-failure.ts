import { DatabaseStartError } from './database-start-error.ts'

const FILE_SYSTEM_FAILURES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full. Free some space, then start again.',
  EDQUOT: 'the disk quota is used up. Free some space, then start again.',
  EROFS: 'the file system of the data folder is read-only.',
  EACCES: 'this user may not use the data folder. Start the service as the user who owns it.',
  EPERM: 'the system does not let it change users or owners. Run the service as an ordinary user.',
  EINVAL:
    'the file system or container does not know the unprivileged user. Run the service as an ordinary user.',
}

/** SQLITE_FULL (sqlite.org/rescode.html): the file that locks a data folder finds no space. */
const SQLITE_FULL = 13

/** What to say of a failure of the file system that an operator can mend. Other errors are answered as they are. */
export function explainStartFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const reason = FILE_SYSTEM_FAILURES[codeOf(error)]
  if (reason === undefined) return error
  return new DatabaseStartError(`The database does not start: ${reason} (${error.message})`, {
    cause: error,
  })
}

function codeOf(error: Error): string {
  if ('errcode' in error && error.errcode === SQLITE_FULL) return 'ENOSPC'
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}
