import type { Kysely } from 'kysely'
import type { Schema } from '../../src/schema/schema.ts'

/** What admins are told of messages of devices that could not be taken as a whole. */
export class ReportProblems {
  readonly #db: Kysely<Schema>
  #before = 0

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  /** From now on `list` answers what is told later: the audit log cannot be emptied. */
  async begin(): Promise<void> {
    this.#before = 0
    this.#before = (await this.list()).length
  }

  async list() {
    const entries = await this.#db
      .selectFrom('audit_entry')
      .select('after')
      .where('action', '=', 'device.report_cut')
      .orderBy('sequence')
      .execute()
    return entries.slice(this.#before).map(({ after }) => after)
  }
}
