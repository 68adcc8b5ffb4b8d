/* A database whose disk is full, as far as tests need it. */
import { sql, type Kysely } from 'kysely'

/** No bucket of a rate limit gets another place, as on a full disk. Drop the trigger `full_disk` afterwards. */
export async function refuseSlots<Tables>(db: Kysely<Tables>): Promise<void> {
  await refuseWrites(db, 'rate_limit_slot')
}

/** A table takes nothing, as on a full disk. Drop its trigger `full_disk` afterwards. */
export async function refuseWrites<Tables>(db: Kysely<Tables>, table: string): Promise<void> {
  await sql`create or replace function refuse_write() returns trigger language plpgsql as
    $$ begin raise exception 'no space' using errcode = 'disk_full'; end $$`.execute(db)
  await sql`create trigger full_disk before insert or update on ${sql.table(table)}
    for each row execute function refuse_write()`.execute(db)
}
