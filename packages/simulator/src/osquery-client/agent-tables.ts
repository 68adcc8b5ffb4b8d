/** One row as osquery sends it: every value a string. */
export type Row = Record<string, string>

/** What running a statement gave. `status` is an SQLite result code, 1 for a general error. */
export type QueryOutcome =
  | { readonly outcome: 'rows'; readonly rows: Row[] }
  | { readonly outcome: 'error'; readonly status: number; readonly message: string }

/** The tables of one device; answers SQL with rows of that device only. Never throws. */
export interface AgentTables {
  query(sql: string): QueryOutcome
}
