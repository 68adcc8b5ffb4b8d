/*
 * Background work as data: what is done, how often, and by whom. Parts give jobs to the runner, which
 * runs them.
 */
interface JobBase<Role extends string> {
  /** Unique, and the same in every version: the last run is remembered by it. */
  readonly name: string
  /** The roles of a process that runs it. */
  readonly roles: readonly Role[]
}

/** Work that is done again and again. */
export interface PeriodicJob<Role extends string = string> extends JobBase<Role> {
  readonly kind: 'periodic'
  /**
   * `installation`: one process at a time, and once in each interval, whichever process it is.
   * `process`: every process for itself, because the work is about what it holds in memory.
   */
  readonly scope: 'installation' | 'process'
  /** From the end of one run to the beginning of the next. */
  readonly intervalMs: number
  /** A failed run is logged and tried again after the interval. */
  readonly run: () => Promise<unknown>
}

/** Work that is due at times which the database knows; processes share it by claiming what is due. */
export interface DueJob<Role extends string = string> extends JobBase<Role> {
  readonly kind: 'due'
  /** Does what is due and answers when to come again; undefined when nothing is known to be due. */
  readonly run: () => Promise<Date | undefined>
  /** Where the database tells of something that is due: the payload is its time, or nothing for now. */
  readonly channel?: string
  /** The longest sleep, in case a notification is lost; 5 seconds by default. */
  readonly pollMs?: number
}

export type Job<Role extends string = string> = PeriodicJob<Role> | DueJob<Role>
